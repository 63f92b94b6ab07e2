// Amounts as the rest of the program writes them: three significant digits,
// binary prefixes, and <0.1 rather than a zero that is none.
const prefixes = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

function prefixOf(bytes) {
  let p = 0;
  for (let v = Math.abs(bytes); v >= 1023.5 && p < prefixes.length - 1; v /= 1024) p++;
  return p;
}

function formatBytes(bytes) {
  const p = prefixOf(bytes);
  const v = bytes / 1024 ** p;
  const decimals = p === 0 || Math.abs(v) >= 99.95 ? 0 : Math.abs(v) >= 9.995 ? 1 : 2;
  return v.toFixed(decimals) + ' ' + prefixes[p];
}

function grouped(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
}

function percent(share) {
  if (!isFinite(share)) return '';
  const p = Math.round(share * 100);
  if (share > 0 && p === 0) return '<1 %';
  if (share < 1 && p === 100) return '>99 %';
  return p + ' %';
}
