// Stands in for parts of a dependency that this program never reaches (bundles.ts says which).
module.exports = {};
