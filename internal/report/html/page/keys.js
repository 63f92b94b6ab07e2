// Pointer and keyboard on the chart.
function listen(s, page, change) {
  const at = (e) => {
    const r = page.canvas.getBoundingClientRect();
    return [e.clientX - r.left, e.clientY - r.top];
  };
  let drag = null;
  page.canvas.addEventListener('pointerdown', (e) => {
    if (e.button !== 0) return;
    const [px] = at(e);
    drag = { px, from: s.from, to: s.to, pan: e.shiftKey, moved: false };
    page.canvas.setPointerCapture(e.pointerId);
  });
  page.canvas.addEventListener('pointermove', (e) => {
    const [px, py] = at(e);
    if (drag) {
      drag.moved = drag.moved || Math.abs(px - drag.px) > 4;
      if (drag.pan) {
        const by = ((drag.px - px) / (s.box.right - s.box.left)) * (drag.to - drag.from);
        show(s, drag.from + by, drag.to + by);
      } else if (drag.moved) s.brush = [drag.px, px];
    }
    const hit = under(s, px, py);
    s.hover = hit.sample;
    s.layer = hit.layer;
    s.cached = hit.cached;
    change({ list: false });
    fillTip(s, page, px, py);
  });
  page.canvas.addEventListener('pointerup', (e) => {
    const [px, py] = at(e);
    if (drag && s.brush) {
      const [a, b] = s.brush.map((x) => s.box.unx(Math.min(Math.max(x, s.box.left), s.box.right)));
      show(s, Math.min(a, b), Math.max(a, b));
    } else if (drag && !drag.moved) {
      const hit = under(s, px, py);
      if (hit.sample !== null) pin(s, hit.sample);
    }
    drag = s.brush = null;
    change();
  });
  const leave = () => {
    s.hover = s.layer = s.brush = drag = null;
    page.tip.hidden = true;
    change({ list: false });
  };
  page.canvas.addEventListener('pointerleave', leave);
  page.canvas.addEventListener('pointercancel', leave);
  page.canvas.addEventListener('dblclick', () => {
    show(s, s.axis.from, s.axis.to);
    change({ list: false });
  });
  page.canvas.addEventListener('wheel', (e) => {
    if (e.ctrlKey) return; // the browser's own zoom
    e.preventDefault();
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan(s, e.deltaX / 1000);
    else zoom(s, Math.exp(Math.max(-1, Math.min(1, e.deltaY / 400))), s.box.unx(at(e)[0]));
    change({ list: false });
  }, { passive: false });
  page.canvas.addEventListener('keydown', (e) => {
    if (!e.ctrlKey && !e.metaKey && !e.altKey && press(s, page, e)) {
      e.preventDefault();
      change();
    }
  });
}

// strides are the keys that move the pinned moment.
const strides = {
  ArrowLeft: () => -1, ArrowDown: () => -1, ArrowRight: () => 1, ArrowUp: () => 1,
  PageUp: (s) => -Math.ceil(s.t.count / 20), PageDown: (s) => Math.ceil(s.t.count / 20),
  Home: (s) => -s.t.count, End: (s) => s.t.count,
};

// press does what a key means and reports whether it means anything.
function press(s, page, e) {
  const x = s.axis.xs[s.pin];
  if (strides[e.key]) pin(s, s.pin + strides[e.key](s) * (e.shiftKey ? 10 : 1));
  else if (e.key === '+' || e.key === '=') zoom(s, 0.5, x);
  else if (e.key === '-') zoom(s, 2, x);
  else if (e.key === '0') show(s, s.axis.from, s.axis.to);
  else if (e.key === 'p') pin(s, s.t.peak);
  else if (e.key === 'v') chooseView(s, (s.v + 1) % s.t.views.length);
  else if (e.key === '/') page.search.focus();
  else return false;
  return true;
}
