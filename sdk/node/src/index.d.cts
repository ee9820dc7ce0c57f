// @ts-nocheck TypeScript before 5.8 does not know that Node can require an ES module.
export * from './index.js';
export { default } from './index.js';
