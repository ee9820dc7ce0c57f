'use strict';

// require() loads this file, which a Node that cannot require ES modules understands too.
try {
  module.exports = require('./index.js');
} catch (error) {
  if (error.code !== 'ERR_REQUIRE_ESM') throw error;
  throw new Error(`partner-deposits needs Node 20.19, 22.12 or newer for require(). This is Node ${process.versions.node}.`);
}
