// Loaded before all else, so that an older Node says in words what it lacks.
export function refuseOlder(node = '20.19') {
  const [major, minor] = node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new Error(`partner-deposits needs Node 20.19 or newer. This is Node ${node}.`);
  }
}

refuseOlder(globalThis.process?.versions?.node);
