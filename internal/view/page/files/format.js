// Changes, counts, times and ticks, beside what webpage writes for all pages.

function signedBytes(bytes) {
  return (bytes > 0 ? '+' : bytes < 0 ? '−' : '±') + formatBytes(Math.abs(bytes));
}

function counted(n, noun) {
  return grouped(n) + ' ' + noun + (n === 1 ? '' : 's');
}

// formatTime writes microseconds, with as many digits as a span needs.
function formatTime(us, span) {
  if (span < 2e3) return (us / 1e3).toFixed(3) + ' ms';
  if (span < 2e6) return (us / 1e3).toFixed(span < 2e4 ? 2 : 1) + ' ms';
  return (us / 1e6).toFixed(span < 2e7 ? 2 : 1) + ' s';
}

function hex(n) {
  return '0x' + n.toString(16);
}

// Ticks are round numbers between two ends, at most so many and least apart.
function ticks(from, to, most, least = 0) {
  const span = to - from;
  if (!(span > 0) || !isFinite(span)) return [from];
  const rough = span / Math.max(most, 1);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(unit * [1, 2, 5, 10].find((s) => s * unit >= rough * 0.9999), least);
  const out = [];
  for (let x = Math.ceil(from / step) * step; x <= to + step * 1e-9 && out.length < 100; x += step) out.push(x);
  return out;
}

// byteTicks are round in the unit of the largest.
function byteTicks(from, to, most) {
  const unit = 1024 ** prefixOf(to);
  return ticks(from / unit, to / unit, most).map((v) => v * unit);
}

function tickLabel(bytes, top) {
  const p = prefixOf(top);
  return +(bytes / 1024 ** p).toFixed(3) + ' ' + prefixes[p];
}
