// Ticks: round numbers between two ends, at most so many and least apart.
function ticks(from, to, most, least = 0) {
  const span = to - from;
  if (!(span > 0)) return [from];
  const rough = span / most;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(unit * [1, 2, 5, 10].find((s) => s * unit >= rough * 0.9999), least);
  const out = [];
  for (let x = Math.ceil(from / step) * step; x <= to + step * 1e-9; x += step) out.push(x);
  return out;
}

// byteTicks are round in the unit of the largest.
function byteTicks(to, most) {
  const unit = 1024 ** prefixOf(to);
  return ticks(0, to / unit, most).map((v) => v * unit);
}

function tickLabel(bytes, top) {
  const p = prefixOf(top);
  return +(bytes / 1024 ** p).toFixed(3) + ' ' + prefixes[p];
}
