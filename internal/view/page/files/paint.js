// Painting: a pure function of view and picture, from the bottom up.
function paintChart(v, p, canvas) {
  const sheet = fresh(canvas);
  if (!sheet) return;
  const { c } = sheet;
  const { box } = p;
  paintGrid(c, v, p);
  c.save();
  c.beginPath();
  c.rect(box.left, box.top - 4, box.right - box.left, box.bottom - box.top + 4);
  c.clip();
  if (p.reserved) fillUnder(c, p, p.reserved, colour('--cached'));
  if (p.mode === 'blocks') paintBlocks(c, v, p);
  else paintLayers(c, v, p);
  if (p.reserved) trace(c, p, p.reserved, colour('--ink'), 1.3);
  if (p.replayed) trace(c, p, p.replayed, colour('--accent'), 1.6, [6, 3]);
  if (p.found) fillUnder(c, p, p.found, colour('--accent'));
  paintOOMs(c, v, p);
  c.restore();
  paintCapacity(c, v, p);
  paintLegend(c, v, p);
  paintBands(c, v, p);
}

function paintGrid(c, v, p) {
  const { box } = p;
  c.lineWidth = 1;
  c.strokeStyle = colour('--grid');
  c.fillStyle = colour('--soft');
  c.textBaseline = 'middle';
  c.textAlign = 'right';
  for (const b of byteTicks(p.low, p.high, Math.max(2, Math.floor((box.bottom - box.top) / 48)))) {
    const y = Math.round(p.y(b)) + 0.5;
    if (y < box.top - 4 || y > box.bottom + 1) continue;
    line(c, box.left, y, box.right, y);
    c.fillText(tickLabel(b, p.high), box.left - 7, y);
  }
  c.textBaseline = 'alphabetic';
  c.textAlign = 'center';
  const span = v.to - v.from;
  const room = c.measureText(v.axis.label(v.to, span)).width + 40;
  for (const x of ticks(v.from, v.to, Math.max(1, Math.floor((box.right - box.left) / room)), v.axis.step)) {
    const label = v.axis.label(x, span);
    const half = c.measureText(label).width / 2;
    const px = box.left + ((x - v.from) / span) * (box.right - box.left);
    const at = Math.min(Math.max(px, box.left + half), box.right - half);
    if (Math.abs(at - px) < 14 || px === box.left) c.fillText(label, at, box.height - 5);
  }
  c.textAlign = 'right';
  c.fillText(v.axis.name === 'time' ? 'time' : 'event', box.left - 7, box.height - 5);
}

function fillUnder(c, p, values, fill) {
  const { box } = p;
  c.beginPath();
  c.moveTo(box.left, box.bottom);
  outline(c, p, values);
  c.lineTo(box.right, box.bottom);
  c.closePath();
  c.fillStyle = fill;
  c.fill();
}

// outline walks along values as steps, one a pixel; the path goes on.
function outline(c, p, values) {
  const n = values.length;
  const per = (p.box.right - p.box.left) / n;
  let last = NaN;
  for (let i = 0; i < n; i++) {
    if (values[i] === last) continue;
    const x = p.box.left + i * per;
    if (i > 0) c.lineTo(x, p.y(last));
    c.lineTo(x, p.y(values[i]));
    last = values[i];
  }
  c.lineTo(p.box.right, p.y(last));
}

function trace(c, p, values, stroke, width, dash = []) {
  c.beginPath();
  c.moveTo(p.box.left, p.y(values[0]));
  outline(c, p, values);
  c.strokeStyle = stroke;
  c.lineWidth = width;
  c.setLineDash(dash);
  c.stroke();
  c.setLineDash([]);
}

// dim reports whether a shape is not what is searched for.
function dim(v, shape) {
  return v.found !== null && !v.found[shape];
}

// paintBlocks draws the bands into a raster.
function paintBlocks(c, v, p) {
  const s = v.s;
  const r = newRaster(p);
  r.under(p.samples.most, rgb('--rest'));
  for (let i = 0; i < p.chosen.length; i++) {
    const shape = s.shape[p.chosen[i]];
    r.band(p.edges[i], s.bytes[shape], shadeOf(lineColour(s, s.line[shape]), dim(v, shape)));
  }
  r.put(c);
}

// addBand adds the outline of a block to a path.
function addBand(path, p, edge, bytes, per) {
  const { box } = p;
  const n = edge.length / 2;
  const x = (i) => box.left + edge[2 * i] * per;
  const y = (i) => p.y(edge[2 * i + 1]);
  path.moveTo(x(0), y(0));
  for (let i = 1; i < n; i++) {
    path.lineTo(x(i), y(i - 1));
    if (i < n - 1) path.lineTo(x(i), y(i));
  }
  const up = p.y(0) - p.y(bytes);
  for (let i = n - 1; i > 0; i--) {
    path.lineTo(x(i), y(i - 1) - up);
    path.lineTo(x(i - 1), y(i - 1) - up);
  }
  path.closePath();
}

function paintLayers(c, v, p) {
  const r = newRaster(p);
  let base = new Float64Array(p.samples.state.length);
  for (const l of p.layers) {
    const top = base.map((b, i) => b + l.bytes[i]);
    const dimmed = v.layer !== null ? v.layer !== l.key : p.found !== undefined;
    r.between(base, top, shadeOf(l.colour, dimmed));
    base = top;
  }
  r.put(c);
}

function paintOOMs(c, v, p) {
  c.strokeStyle = colour('--no');
  c.lineWidth = 1.5;
  for (const o of v.s.head.ooms) {
    const x = Math.round(p.x(o.state)) + 0.5;
    if (x < p.box.left || x > p.box.right) continue;
    line(c, x, p.box.top, x, p.box.bottom);
    c.fillStyle = colour('--no'); // a flag, which the line of the pinned moment leaves free
    c.fillRect(x - 1, p.box.top, 9, 6);
  }
}

function paintCapacity(c, v, p) {
  const free = v.s.head.capacity - v.s.head.context;
  if (!(v.s.head.capacity > 0) || free > p.high || free < p.low) return;
  c.strokeStyle = colour('--no');
  c.setLineDash([7, 4]);
  c.lineWidth = 1.3;
  line(c, p.box.left, p.y(free), p.box.right, p.y(free));
  c.setLineDash([]);
}

// paintLegend names the lines above the plot, where nothing is drawn.
function paintLegend(c, v, p) {
  let x = p.box.left;
  c.textBaseline = 'alphabetic';
  c.textAlign = 'left';
  const entry = (stroke, dash, box, text) => {
    const width = c.measureText(text).width;
    if (x + 24 + width > p.box.right) return;
    if (box) {
      c.fillStyle = stroke;
      c.fillRect(x + 4, 4, 12, 9);
    } else {
      c.strokeStyle = stroke;
      c.lineWidth = 1.5;
      c.setLineDash(dash);
      line(c, x, 8.5, x + 18, 8.5);
      c.setLineDash([]);
    }
    c.fillStyle = colour('--soft');
    c.fillText(text, x + 23, 13);
    x += 23 + width + 16;
  };
  if (p.reserved) entry(colour('--ink'), [], false, 'reserved');
  if (p.replayed) entry(colour('--accent'), [6, 3], false, 'reserved with ' + v.replay.conf);
  if (p.found) entry(colour('--accent'), [], true, 'found');
  if (p.mode === 'blocks') entry(colour('--rest'), [], true, 'smaller or shorter than can be drawn here');
  if (v.s.head.ooms.length) entry(colour('--no'), [], false, 'out of memory');
  if (v.s.head.capacity > 0) entry(colour('--no'), [7, 4], false, 'capacity ' + formatBytes(v.s.head.capacity) + (v.s.head.context ? ' less context' : ''));
}

function paintBands(c, v, p) {
  const { box } = p;
  c.textBaseline = 'alphabetic';
  box.rows.forEach((row, r) => {
    const y = box.bottom + margin.gap + r * bandRow;
    c.fillStyle = colour('--soft');
    c.textAlign = 'right';
    c.fillText(row.kind === 'range' && row.row ? '' : row.kind, box.left - 7, y + 10);
    c.textAlign = 'left';
    row.bands.forEach((b, i) => {
      const from = Math.max(p.x(b.from), box.left);
      const to = Math.min(p.x(b.to), box.right);
      if (to <= box.left || from >= box.right || to - from < 0.5) return;
      c.fillStyle = colour(i % 2 ? '--line' : '--grid');
      c.fillRect(from, y, Math.max(to - from - 1, 0.5), bandRow - 2);
      const name = shortened(b.name, b.kind).find((n) => c.measureText(n).width + 7 < to - from);
      if (!name) return;
      c.fillStyle = colour('--ink');
      c.fillText(name, from + 3, y + 10);
    });
  });
}

// shortened gives a path and its ends: "layers.3.mlp", "3.mlp", "mlp".
function shortened(name, kind) {
  if (name.length < 20) return [name];
  if (kind !== 'module') return [name, name.replace(/^[^#]*#/, ''), name.slice(0, 14) + '…'];
  const parts = name.split('.');
  return parts.map((_, i) => parts.slice(i).join('.'));
}

// paintOver paints what follows the pointer, on a canvas of its own.
function paintOver(v, p, canvas) {
  const sheet = fresh(canvas);
  if (!sheet || !p) return;
  const { c } = sheet;
  const { box } = p;
  for (const [b, stroke, width] of [[v.pointed, colour('--ink'), 1], [v.block, colour('--ink'), 2]]) {
    const i = b < 0 || p.mode !== 'blocks' ? -1 : p.chosen.indexOf(b);
    if (i < 0) continue;
    c.save();
    c.beginPath();
    c.rect(box.left, box.top - 4, box.right - box.left, box.bottom - box.top + 4);
    c.clip();
    const path = new Path2D();
    addBand(path, p, p.edges[i], v.s.bytes[v.s.shape[b]], (box.right - box.left) / (p.columns.length - 1));
    c.strokeStyle = stroke;
    c.lineWidth = width;
    c.stroke(path);
    c.restore();
  }
  moment(c, p, v.pin, colour('--accent'), []);
  if (v.hover !== null) moment(c, p, v.hover, colour('--soft'), [3, 3]);
  if (v.brush) {
    c.fillStyle = colour('--accent');
    c.globalAlpha = 0.18;
    c.fillRect(Math.min(...v.brush), box.top, Math.abs(v.brush[1] - v.brush[0]), box.bottom - box.top);
    c.globalAlpha = 1;
  }
  peakTag(c, v, p);
}

function moment(c, p, state, stroke, dash) {
  const x = Math.round(p.x(state)) + 0.5;
  if (x < p.box.left - 1 || x > p.box.right + 1) return;
  c.strokeStyle = stroke;
  c.lineWidth = 1.2;
  c.setLineDash(dash);
  line(c, x, p.box.top - 4, x, p.box.bottom);
  c.setLineDash([]);
}

function peakTag(c, v, p) {
  const x = p.x(v.s.peak);
  if (x < p.box.left || x > p.box.right) return;
  const y = Math.max(p.y(totalAt(v.s, v.s.peak)), p.box.top);
  c.fillStyle = colour('--ink');
  c.beginPath();
  c.moveTo(x - 5, y - 8);
  c.lineTo(x + 5, y - 8);
  c.lineTo(x, y - 1);
  c.fill();
}

// paintStrip paints the whole recording with the part that is shown.
function paintStrip(v, canvas) {
  const sheet = fresh(canvas);
  if (!sheet) return;
  const { c, width, height } = sheet;
  const left = margin.left;
  const room = width - left - margin.right;
  const s = v.s;
  if (!v.strip || v.strip.room !== room || v.strip.axis !== v.axis.name) {
    const all = { axis: v.axis, from: v.axis.from, to: v.axis.to };
    v.strip = { room, axis: v.axis.name, values: samplesOf(s, columnsOf(s, all, Math.max(Math.floor(room), 10))).most };
  }
  const { values } = v.strip;
  const most = values.reduce((a, b) => Math.max(a, b), 1);
  c.beginPath();
  c.moveTo(left, height);
  values.forEach((b, i) => c.lineTo(left + (i * room) / values.length, height - (b / most) * (height - 6)));
  c.lineTo(left + room, height);
  c.closePath();
  c.fillStyle = colour('--none');
  c.fill();
  const x = (value) => left + ((value - v.axis.from) / (v.axis.to - v.axis.from)) * room;
  const [a, b] = [x(v.from), Math.max(x(v.to), x(v.from) + 3)];
  c.fillStyle = colour('--veil');
  c.fillRect(left, 0, a - left, height);
  c.fillRect(b, 0, left + room - b, height);
  c.strokeStyle = colour('--accent');
  c.lineWidth = 1.5;
  c.strokeRect(a, 0.75, b - a, height - 1.5);
  c.fillStyle = colour('--soft');
  c.textAlign = 'right';
  c.textBaseline = 'middle';
  c.fillText('all', left - 7, height / 2);
}

// paintMap paints the segments of the pinned moment.
function paintMap(v, m, canvas) {
  const sheet = fresh(canvas);
  if (!sheet) return null;
  const { c, width, height } = sheet;
  const l = layoutMap(m, v.order, width, height);
  const s = v.s;
  for (const { segment: g, from, size } of l.places) {
    c.fillStyle = colour(g.blocks.length ? '--hole' : '--free');
    stretch(l, from, size, (x, y, w, h) => c.fillRect(x, y, w, h));
    for (const b of g.blocks) {
      const shape = b.id >= 0 ? s.shape[b.id] : -1;
      c.globalAlpha = shape >= 0 && dim(v, shape) ? 0.2 : 1;
      c.fillStyle = colour(shape < 0 ? '--other' : lineColour(s, s.line[shape]));
      const at = from + ((b.addr - g.addr) / g.bytes) * size;
      const wide = (b.bytes / g.bytes) * size;
      stretch(l, at, Math.max(wide - (wide > 4 ? 0.7 : 0), 0.4), (x, y, w, h) => c.fillRect(x, y, w, h));
      if (b.id >= 0 && (b.id === v.block || b.id === v.pointed)) {
        c.strokeStyle = colour('--ink');
        c.lineWidth = 2;
        stretch(l, at, Math.max(wide, 3), (x, y, w, h) => c.strokeRect(x, y, w, h));
      }
    }
    c.globalAlpha = 1;
    c.strokeStyle = colour(g.small ? '--accent' : '--edge');
    c.lineWidth = 0.8;
    stretch(l, from, size, (x, y, w, h) => c.strokeRect(x + 0.4, y + 0.4, Math.max(w - 0.8, 0.4), h - 0.8));
  }
  return l;
}
