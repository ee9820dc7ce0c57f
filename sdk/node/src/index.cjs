try {
  module.exports = require('./index.js');
} catch (error) {
  if (error.code !== 'ERR_REQUIRE_ESM') throw error; // else a Node that cannot require ES modules
  throw new Error(`partner-deposits needs Node 20.19 or 22.12: this is ${process.versions.node}`);
}
