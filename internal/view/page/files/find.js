// Search: which stacks, and so which blocks, a text is in.
function findStacks(s, query) {
  const q = query.trim().toLowerCase();
  if (!q) return null;
  const inText = s.head.strings.map((t) => t.toLowerCase().includes(q));
  const inFrame = Uint8Array.from(s.frameName, (name, f) => {
    if (inText[name] || inText[s.frameFile[f]]) return 1;
    return q.includes(':') && frameText({ name: '', file: s.head.strings[s.frameFile[f]], line: s.frameLine[f] }).toLowerCase().includes(q) ? 1 : 0;
  });
  const inSite = new Uint8Array(s.stackEnds.length);
  for (let site = 1; site < s.stackEnds.length; site++) {
    for (let i = s.stackEnds[site - 1]; i < s.stackEnds[site] && !inSite[site]; i++) inSite[site] = inFrame[s.stackFrames[i]];
  }
  const inLine = s.head.lines.map((l) => l.toLowerCase().includes(q));
  return Uint8Array.from(s.site, (site, shape) => (inSite[site] || inLine[s.line[shape]] || (s.module[shape] > 0 && s.head.modules[s.module[shape]].toLowerCase().includes(q)) ? 1 : 0));
}

// foundAt sums the found blocks that are in use in a state.
function foundAt(s, found, state) {
  let bytes = 0;
  let blocks = 0;
  eachLive(s, state, (b) => {
    if (!found[s.shape[b]]) return;
    bytes += s.bytes[s.shape[b]];
    blocks++;
  });
  return { bytes, blocks };
}
