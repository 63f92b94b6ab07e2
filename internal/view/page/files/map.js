// The segment map of a moment: what is held from the driver, and which parts
// of it are in use.

// recordedMap lays the live blocks into the segments of a state.
function recordedMap(s, state) {
  const blocks = [];
  const unit = 2 ** s.head.shift;
  eachLive(s, state, (b) => blocks.push({ id: b, addr: s.addr[b] * unit, bytes: s.bytes[s.shape[b]] }));
  blocks.sort((a, b) => a.addr - b.addr);
  const segments = [];
  for (const g of s.segments) {
    if (g.start > state || g.end <= state) continue;
    const last = segments[segments.length - 1];
    if (last && g.expandable && last.expandable && last.addr + last.bytes === g.addr && last.stream === g.stream && last.pool === g.pool) {
      last.bytes += g.bytes;
    } else segments.push({ ...g, blocks: [] });
  }
  let lost = 0;
  let i = 0;
  for (const b of blocks) {
    while (i < segments.length && segments[i].addr + segments[i].bytes <= b.addr) i++;
    if (i < segments.length && segments[i].addr <= b.addr) segments[i].blocks.push(b);
    else lost++;
  }
  return sumMap({ segments, lost });
}

// replayedMap is the map that the program sends of a replay: for each segment
// address, bytes, flags, pool and its blocks as address, bytes and number.
function replayedMap(s, raw) {
  const segments = raw.segments.map(([addr, bytes, flags, pool, blocks]) => ({
    addr, bytes, small: flags % 2 === 1, expandable: flags >= 2, pool, stream: 0, site: 0,
    blocks: blocks.map(([at, size, id]) => ({ id, addr: at, bytes: size })),
  }));
  return sumMap({ segments, lost: 0 });
}

function sumMap(m) {
  m.reserved = m.used = m.holes = m.empty = m.emptyCount = m.blocks = m.largest = 0;
  for (const g of m.segments) {
    g.used = 0;
    g.largest = 0;
    let next = g.addr;
    for (const b of g.blocks) {
      g.used += b.bytes;
      g.largest = Math.max(g.largest, b.addr - next);
      next = Math.max(next, b.addr + b.bytes);
    }
    g.largest = Math.max(g.largest, g.addr + g.bytes - next);
    m.reserved += g.bytes;
    m.used += g.used;
    m.blocks += g.blocks.length;
    m.largest = Math.max(m.largest, g.largest);
    if (!g.blocks.length) {
      m.empty += g.bytes;
      m.emptyCount++;
    } else m.holes += g.bytes - g.used;
  }
  return m;
}

const mapOrders = {
  'by address': (a, b) => a.addr - b.addr,
  'by free space': (a, b) => b.bytes - b.used - (a.bytes - a.used) || a.addr - b.addr,
};

const mapGap = 2;
const leastRow = 14;
const mostRow = 40;

// layoutMap gives each segment its stretch of the rows, which run on from one
// to the next like text.
function layoutMap(m, order, width, height) {
  const list = [...m.segments].sort(mapOrders[order]);
  const wanted = Math.ceil((list.length * 40) / width); // so that a segment is some 40 pixels long
  const rows = Math.max(1, Math.min(Math.max(wanted, Math.ceil(height / mostRow)), Math.floor(height / leastRow)));
  const row = height / rows;
  const room = rows * width;
  const length = (scale) => list.reduce((sum, g) => sum + Math.max(3, g.bytes / scale) + mapGap, 0);
  let scale = Math.max(m.reserved / room, 1);
  for (let i = 0; i < 40 && length(scale) > room; i++) scale *= 1.04;
  let at = 0;
  const places = list.map((segment) => {
    const size = Math.max(3, segment.bytes / scale);
    const place = { segment, from: at, size };
    at += size + mapGap;
    return place;
  });
  return { places, width, rows, row, scale, starts: places.map((p) => p.from) };
}

// mapHit returns what lies under a point of the map.
function mapHit(l, x, y) {
  const row = Math.floor(y / l.row);
  if (row < 0 || row >= l.rows || x < 0 || x >= l.width) return null;
  const at = row * l.width + x;
  const place = l.places[before(l.starts, at)];
  if (!place || at >= place.from + place.size) return null;
  const g = place.segment;
  const addr = g.addr + ((at - place.from) / place.size) * g.bytes;
  const slack = g.bytes / place.size;
  const block = g.blocks.find((b) => b.addr <= addr && addr < b.addr + b.bytes) || g.blocks.find((b) => Math.abs(b.addr - addr) < slack);
  return { segment: g, block: block || null };
}

// stretch calls f with the pieces of a row that a stretch of the map covers.
function stretch(l, from, size, f) {
  let at = from;
  let left = size;
  while (left > 0) {
    const row = Math.floor(at / l.width);
    if (row >= l.rows) return;
    const x = at - row * l.width;
    const w = Math.min(left, l.width - x);
    f(x, row * l.row, w, l.row - 3);
    at += w;
    left -= w;
  }
}
