// The words beside the pictures: the moment, what is live there, one block,
// and the tip at the pointer. All text of the recording is set as text.
const mostRows = 250;

function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

function swatch(name) {
  const e = element('span', 'swatch');
  e.style.background = colour(name);
  return e;
}

function eventName(s, state) {
  return state === 0 ? 'before event ' + grouped(s.head.from) : 'event ' + grouped(s.head.from + state - 1);
}

// atEvent says when, in a sentence.
function atEvent(s, state) {
  if (!s.head.events) return 'at the end, as there are no events';
  return state === 0 ? eventName(s, state) : 'at ' + eventName(s, state);
}

function momentName(s, state) {
  if (!s.head.events) return 'the state at the end';
  const time = s.stride && state > 0 ? ', ' + formatTime(timeOf(s, state), Math.max(timeOf(s, s.states - 1), 2e6)) : '';
  const bands = s.head.bands.filter((b) => b.from <= state && state < b.to).map((b) => b.name);
  return eventName(s, state) + time + (bands.length ? ' · ' + bands.slice(0, 3).join(' · ') : '');
}

// changeName says what the event before a state did.
function changeName(s, state) {
  const failed = s.head.ooms.find((o) => o.state === state);
  if (failed) return 'a request of ' + formatBytes(failed.requested) + ' fails; the driver has ' + formatBytes(failed.free) + ' free';
  const e = s.events[state];
  if (!state || !e) return '';
  const b = Math.abs(e) - 1;
  return (e > 0 ? 'allocates ' : 'frees ') + formatBytes(s.bytes[s.shape[b]]) + ', ' + s.head.lines[s.line[s.shape[b]]];
}

// fillMoment writes the panel of the pinned moment.
function fillMoment(v, page) {
  const s = v.s;
  page.momentName.textContent = momentName(s, v.pin);
  page.momentChange.textContent = changeName(s, v.pin);
  const allocated = totalAt(s, v.pin);
  let requested = 0;
  let blocks = 0;
  eachLive(s, v.pin, (b) => {
    requested += s.requested[s.shape[b]];
    blocks++;
  });
  const facts = [['allocated', formatBytes(allocated)]];
  if (s.segments.length) facts.push(['reserved', formatBytes(levelAt(s.reserved, v.pin))]);
  facts.push(['blocks', grouped(blocks)], ['rounding', formatBytes(allocated - requested)]);
  if (v.found) {
    const f = foundAt(s, v.found, v.pin);
    facts.push(['found', formatBytes(f.bytes) + ' in ' + counted(f.blocks, 'block')]);
  }
  page.momentFacts.replaceChildren(...facts.map(([name, value]) => {
    const d = element('div');
    d.append(element('dt', '', name), element('dd', '', value));
    return d;
  }));
  fillList(v, page, allocated);
}

// fillList lists what is live at the pinned moment, by layer or by block.
function fillList(v, page, allocated) {
  const s = v.s;
  const rows = v.list === 'block' ? blockRows(v) : layerRows(v);
  const shown = rows.slice(0, mostRows);
  page.listBody.replaceChildren(...shown.map((r) => {
    const tr = element('tr');
    const name = element('td', 'path');
    const pick = element('button', 'link');
    pick.type = 'button';
    pick.append(swatch(r.colour), document.createTextNode(r.name));
    if (r.note) pick.append(element('small', '', '\u00a0' + r.note.trim()));
    name.append(pick);
    tr.append(element('td', 'num', formatBytes(r.bytes)), element('td', 'num share', percent(r.bytes / Math.max(allocated, 1))), name);
    if (r.block >= 0) tr.dataset.block = r.block;
    else tr.dataset.key = r.key;
    if (r.block >= 0 && r.block === v.block) tr.className = 'on';
    return tr;
  }));
  let note = rows.length ? '' : v.found ? 'nothing that was found is live here' : 'nothing is live here';
  if (rows.length > shown.length) {
    const rest = rows.slice(mostRows).reduce((sum, r) => sum + r.bytes, 0);
    note = 'and ' + counted(rows.length - mostRows, 'smaller row') + ', ' + formatBytes(rest) + '; the search narrows the list';
  }
  page.listMore.textContent = note;
  for (const b of page.lists.children) b.setAttribute('aria-checked', String(b.dataset.list === v.list));
  page.lists.firstChild.textContent = 'by ' + cuts[listCut(v)].title;
  page.listName.textContent = v.list === 'block' ? 'block, and the line that made it' : cuts[listCut(v)].title;
}

// listCut is how the list is cut: as the chart is, or by line.
function listCut(v) {
  return v.mode === 'blocks' ? 'line' : v.mode;
}

function layerRows(v) {
  const s = v.s;
  const cut = cuts[listCut(v)];
  const rows = new Map();
  eachLive(s, v.pin, (b) => {
    const shape = s.shape[b];
    if (dim(v, shape)) return;
    const k = cut.of(s, b);
    let r = rows.get(k);
    if (!r) rows.set(k, (r = { key: k, block: -1, bytes: 0, blocks: 0 }));
    r.bytes += s.bytes[shape];
    r.blocks++;
  });
  const out = [...rows.values()].sort((a, b) => b.bytes - a.bytes);
  for (const r of out.slice(0, mostRows)) {
    r.name = cut.text(s, r.key);
    r.colour = cut.colour(s, r.key);
    r.note = r.blocks > 1 ? ' ×' + grouped(r.blocks) : '';
  }
  return out;
}

function blockRows(v) {
  const s = v.s;
  const out = [];
  eachLive(s, v.pin, (b) => {
    if (!dim(v, s.shape[b])) out.push({ block: b, bytes: s.bytes[s.shape[b]] });
  });
  out.sort((a, b) => b.bytes - a.bytes || a.block - b.block);
  for (const r of out.slice(0, mostRows)) {
    const line = s.line[s.shape[r.block]];
    r.name = s.head.lines[line];
    r.colour = lineColour(s, line);
    r.note = ' since ' + eventName(s, s.start[r.block]);
  }
  return out;
}

// blockFacts are what is known of a block, as pairs.
function blockFacts(v, b) {
  const s = v.s;
  const shape = s.shape[b];
  const [from, to] = [s.start[b], s.end[b]];
  const lives = to < s.states ? counted(to - from, 'event') : 'to the end of what is shown';
  const time = s.stride && to < s.states && from > 0 ? ', ' + formatTime(timeOf(s, to) - timeOf(s, from), timeOf(s, to) - timeOf(s, from)) : '';
  const facts = [
    ['size', formatBytes(s.bytes[shape]) + ' (' + grouped(s.requested[shape]) + ' B requested)'],
    ['allocated', from > 0 ? momentName(s, from) : 'before ' + eventName(s, 1)],
    ['freed', to < s.states ? momentName(s, to) : 'not in what is shown'],
    ['lives', lives + time],
  ];
  const cat = s.head.categories[s.category[shape]];
  if (cat !== 'unknown') facts.push(['holds', categoryNames[cat] || cat]);
  if (s.module[shape]) facts.push(['module', s.head.modules[s.module[shape]]]);
  if (s.addr[b]) facts.push(['address', hex(s.addr[b] * 2 ** s.head.shift)]);
  if (s.stream[shape]) facts.push(['stream', s.head.streams[s.stream[shape]]]);
  return facts;
}

// fillBlock writes the panel of the chosen block with its whole stack.
function fillBlock(v, page) {
  page.block.hidden = v.block < 0;
  if (v.block < 0) return;
  const s = v.s;
  const shape = s.shape[v.block];
  page.blockName.replaceChildren(swatch(lineColour(s, s.line[shape])), document.createTextNode(formatBytes(s.bytes[shape]) + ', ' + s.head.lines[s.line[shape]]));
  page.blockFacts.replaceChildren(...blockFacts(v, v.block).map(([name, value]) => {
    const d = element('div');
    d.append(element('dt', '', name), element('dd', '', value));
    return d;
  }));
  const frames = framesOf(s, s.site[shape]);
  const user = s.head.lines[s.line[shape]];
  const dull = frames.filter((f) => f.dull).length;
  page.blockDull.hidden = !dull || dull === frames.length;
  page.blockDull.textContent = v.allFrames ? 'without the allocator\'s own frames' : counted(dull, 'frame') + ' of the allocator and the dispatcher left out';
  const shown = v.allFrames || dull === frames.length ? frames : frames.filter((f) => !f.dull);
  page.blockStack.replaceChildren(...shown.map((f) => {
    const li = element('li', f.dull ? 'dull' : '');
    const place = f.file && f.file !== '??' ? f.file + (f.line ? ':' + f.line : '') : '';
    li.append(element('b', '', f.name || 'unknown'), element('span', '', place));
    if (place && user.startsWith(place.split(/[\\/]/).pop() + ' ')) li.className = 'user';
    return li;
  }));
  page.blockNone.hidden = frames.length > 0;
}

// fillTip writes what lies under the pointer.
function fillTip(v, page, hit, x, y) {
  const s = v.s;
  const lines = [];
  if (!hit) {
    page.tip.hidden = true;
    return;
  }
  if (hit.band) lines.push(['b', hit.band.kind + ' ' + hit.band.name], ['span', counted(hit.band.to - hit.band.from, 'event')]);
  else if (hit.block >= 0) {
    const shape = s.shape[hit.block];
    const to = s.end[hit.block];
    lines.push(['b', formatBytes(s.bytes[shape]) + ', ' + s.head.lines[s.line[shape]]]);
    lines.push(['span', (s.start[hit.block] ? eventName(s, s.start[hit.block]) : 'before the range') + ' to ' + (to < s.states ? eventName(s, to) : 'the end')]);
    for (const f of tellingFrames(s, s.site[shape], 5)) lines.push(['code', frameText(f)]);
  } else if (hit.layer) {
    lines.push(['b', formatBytes(hit.layer.bytes[hit.column]) + ', ' + hit.layer.name], ['span', 'at most ' + formatBytes(hit.layer.most) + ' in this view']);
  } else if (hit.segment) {
    const g = hit.segment;
    lines.push(['b', 'segment of ' + formatBytes(g.bytes) + (g.small ? ', small pool' : '') + (g.expandable ? ', expandable' : '') + (g.pool ? ', pool ' + g.pool : '')]);
    lines.push(['span', hex(g.addr) + ', ' + formatBytes(g.used) + ' used in ' + counted(g.blocks.length, 'block') + ', largest free piece ' + formatBytes(g.largest)]);
    if (hit.held && hit.held.id >= 0) {
      const shape = s.shape[hit.held.id];
      lines.push(['b', formatBytes(hit.held.bytes) + ', ' + s.head.lines[s.line[shape]]]);
      for (const f of tellingFrames(s, s.site[shape], 4)) lines.push(['code', frameText(f)]);
    }
  } else if (hit.rest) lines.push(['b', 'smaller or shorter blocks'], ['span', 'zoom in to see them']);
  if (hit.state !== undefined && !hit.band) {
    lines.push(['span', momentName(s, hit.state) + ': ' + formatBytes(totalAt(s, hit.state)) + ' allocated' + (s.segments.length ? ', ' + formatBytes(levelAt(s.reserved, hit.state)) + ' reserved' : '')]);
  }
  page.tip.replaceChildren(...lines.map(([tag, text]) => element(tag, '', text)));
  page.tip.hidden = false;
  const width = page.tip.offsetWidth;
  const height = page.tip.offsetHeight;
  const left = x + 16 + width > innerWidth ? x - width - 12 : x + 16;
  page.tip.style.left = Math.max(4, left) + 'px';
  page.tip.style.top = Math.max(4, Math.min(y + 14, innerHeight - height - 6)) + 'px';
}

// fillMapFacts writes how the reserved memory is made up, with the colours of
// what is free.
function fillMapFacts(v, m, page) {
  const text = (t) => document.createTextNode(t);
  let end = '; largest free piece ' + formatBytes(m.largest);
  if (m.lost) end += '; ' + counted(m.lost, 'block') + ' in no known segment';
  if (m.with) end += '; replayed with ' + m.with;
  page.mapFacts.replaceChildren(
    text(formatBytes(m.reserved) + ' in ' + counted(m.segments.length, 'segment') + ' = ' + formatBytes(m.used) + ' in ' + counted(m.blocks, 'block') + ' + '),
    swatch('--hole'), text(formatBytes(m.holes) + ' free between them + '), swatch('--free'), text(formatBytes(m.empty) + ' in ' + counted(m.emptyCount, 'free segment') + end),
  );
}
