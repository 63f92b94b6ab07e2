// Pointer and keyboard.
function listen(v, page, change) {
  const at = (e) => {
    const r = page.chart.getBoundingClientRect();
    return [e.clientX - r.left, e.clientY - r.top];
  };
  let drag = null;
  const stage = page.over;
  stage.addEventListener('pointerdown', (e) => {
    if (e.button !== 0) return;
    const [x, y] = at(e);
    drag = { x, y, from: v.from, to: v.to, pan: e.shiftKey || e.pointerType === 'touch', moved: false };
    stage.setPointerCapture(e.pointerId);
  });
  stage.addEventListener('pointermove', (e) => {
    const p = page.picture;
    if (!p) return;
    const [x, y] = at(e);
    if (drag) {
      drag.moved = drag.moved || Math.abs(x - drag.x) > 4;
      if (drag.pan) {
        const by = ((drag.x - x) / (p.box.right - p.box.left)) * (drag.to - drag.from);
        show(v, drag.from + by, drag.to + by);
        change('view');
        return;
      }
      if (drag.moved) v.brush = [clampTo(p, drag.x), clampTo(p, x)];
    }
    const hit = under(v, p, x, y);
    v.hover = hit ? hit.state : null;
    const pointed = hit ? hit.block : -1;
    const layer = hit && hit.layer ? hit.layer.key : null;
    const again = layer !== v.layer;
    v.pointed = pointed;
    v.layer = layer;
    fillTip(v, page, drag ? null : hit, e.clientX, e.clientY);
    change(again ? 'paint' : 'over');
  });
  stage.addEventListener('pointerup', (e) => {
    const p = page.picture;
    if (!drag || !p) return;
    const [x, y] = at(e);
    if (v.brush) {
      const [a, b] = v.brush.map((px) => p.value(px));
      show(v, Math.min(a, b), Math.max(a, b));
    } else if (!drag.moved) {
      const hit = under(v, p, x, y);
      if (hit && hit.band) show(v, v.axis.at(hit.band.from), v.axis.at(hit.band.to));
      else if (hit) {
        v.pin = p.mode === 'blocks' && hit.block >= 0 && !living(v.s, hit.block, hit.state) ? p.samples.state[hit.column] : hit.state;
        v.block = hit.block;
      }
    }
    drag = v.brush = null;
    change('view');
  });
  const leave = () => {
    drag = v.brush = v.hover = v.layer = null;
    v.pointed = -1;
    page.tip.hidden = true;
    change('paint');
  };
  stage.addEventListener('pointerleave', leave);
  stage.addEventListener('pointercancel', leave);
  stage.addEventListener('dblclick', () => {
    show(v, v.axis.from, v.axis.to);
    change('view');
  });
  stage.addEventListener('wheel', (e) => {
    if (e.ctrlKey || !page.picture) return; // the browser's own zoom
    e.preventDefault();
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan(v, (e.deltaX || e.deltaY) / 900);
    else zoom(v, Math.exp(Math.max(-1, Math.min(1, e.deltaY / 350))), page.picture.value(at(e)[0]));
    change('view');
  }, { passive: false });
  stage.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !press(v, page, e)) return;
    e.preventDefault();
    change('view');
  });
  listenStrip(v, page, change);
  listenMap(v, page, change);
}

function clampTo(p, x) {
  return Math.min(Math.max(x, p.box.left), p.box.right);
}

function living(s, b, state) {
  return s.start[b] <= state && state < s.end[b];
}

// listenStrip lets the strip move the view, or set it by drawing over it.
function listenStrip(v, page, change) {
  let from = null;
  const value = (e) => {
    const r = page.strip.getBoundingClientRect();
    const share = (e.clientX - r.left - margin.left) / (r.width - margin.left - margin.right);
    return v.axis.from + Math.min(Math.max(share, 0), 1) * (v.axis.to - v.axis.from);
  };
  let grab = null;
  page.strip.addEventListener('pointerdown', (e) => {
    page.strip.setPointerCapture(e.pointerId);
    from = value(e);
    grab = from >= v.from && from <= v.to && v.to - v.from < (v.axis.to - v.axis.from) * 0.95 ? { a: v.from, b: v.to } : null;
  });
  page.strip.addEventListener('pointermove', (e) => {
    if (from === null) return;
    const to = value(e);
    if (grab) show(v, grab.a + to - from, grab.b + to - from);
    else if (Math.abs(to - from) > (v.axis.to - v.axis.from) / 500) show(v, Math.min(from, to), Math.max(from, to));
    change('view');
  });
  const end = (e) => {
    if (from !== null && !grab && Math.abs(value(e) - from) <= (v.axis.to - v.axis.from) / 500) {
      const span = v.to - v.from;
      show(v, from - span / 2, from + span / 2);
      change('view');
    }
    from = grab = null;
  };
  page.strip.addEventListener('pointerup', end);
  page.strip.addEventListener('pointercancel', () => (from = grab = null));
}

function listenMap(v, page, change) {
  const hitOf = (e) => {
    if (!page.mapLayout) return null;
    const r = page.map.getBoundingClientRect();
    return mapHit(page.mapLayout, e.clientX - r.left, e.clientY - r.top);
  };
  page.map.addEventListener('pointermove', (e) => {
    const hit = hitOf(e);
    const pointed = hit && hit.block ? hit.block.id : -1;
    const again = pointed !== v.pointed;
    v.pointed = pointed;
    fillTip(v, page, hit && { block: -1, segment: hit.segment, held: hit.block }, e.clientX, e.clientY);
    if (again) change('over', 'map');
  });
  page.map.addEventListener('pointerleave', () => {
    v.pointed = -1;
    page.tip.hidden = true;
    change('over', 'map');
  });
  page.map.addEventListener('click', (e) => {
    const hit = hitOf(e);
    if (!hit || !hit.block || hit.block.id < 0) return;
    v.block = hit.block.id;
    change('view');
  });
}

// press does what a key means and reports whether it means anything.
function press(v, page, e) {
  const span = v.to - v.from;
  const pixel = Math.max(Math.round(v.axis.name === 'events' ? span / 600 : 1), 1);
  const by = (n) => pin(v, v.pin + n * (e.shiftKey ? 20 : 1));
  const center = v.axis.at(v.pin);
  switch (e.key) {
    case 'ArrowLeft': by(-pixel); break;
    case 'ArrowRight': by(pixel); break;
    case ',': pin(v, v.pin - 1); break;
    case '.': pin(v, v.pin + 1); break;
    case 'ArrowUp': stepBlock(v, page, 1); break;
    case 'ArrowDown': stepBlock(v, page, -1); break;
    case 'PageUp': case 'a': pan(v, -0.25); break;
    case 'PageDown': case 'd': pan(v, 0.25); break;
    case 'Home': pin(v, 0); break;
    case 'End': pin(v, v.s.states - 1); break;
    case '+': case '=': case 'w': zoom(v, 0.6, center); break;
    case '-': case 's': zoom(v, 1 / 0.6, center); break;
    case '0': show(v, v.axis.from, v.axis.to); break;
    case 'p': pin(v, v.s.peak); break;
    case 'b': frameBlock(v); break;
    case 'f': v.fit = !v.fit; break;
    case 't': if (v.s.stride) chooseAxis(v, v.axis.name === 'time' ? 'events' : 'time'); break;
    case 'v': v.mode = page.modes[(page.modes.indexOf(v.mode) + 1) % page.modes.length]; break;
    case 'Escape': v.block = -1; break;
    default: return false;
  }
  return true;
}

// stepBlock chooses the next block above or below at the pinned moment.
function stepBlock(v, page, by) {
  const p = page.picture;
  if (!p || p.mode !== 'blocks') return;
  const here = Array.from(p.chosen).filter((b) => living(v.s, b, v.pin));
  if (!here.length) return;
  const at = here.indexOf(v.block);
  v.block = here[at < 0 ? (by > 0 ? 0 : here.length - 1) : Math.min(Math.max(at + by, 0), here.length - 1)];
}

// frameBlock zooms to the life of the chosen block.
function frameBlock(v) {
  if (v.block < 0) return;
  const a = v.axis.at(v.s.start[v.block]);
  const b = v.axis.at(Math.min(v.s.end[v.block], v.s.states - 1));
  const room = Math.max((b - a) * 0.1, v.axis.least / 2);
  show(v, a - room, b + room);
}
