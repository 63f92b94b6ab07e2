// A raster is the inside of the chart as pixels. Thousands of bands with their
// steps are a hundred thousand corners, which a canvas takes long to fill; as
// runs of pixels they take a few milliseconds, whatever the machine draws with.
const rasterSheet = document.createElement('canvas');

function rgb(name) {
  const v = colour(name);
  const n = parseInt(v.slice(1), 16);
  if (v.length === 4) return [(n >> 8) * 17, ((n >> 4) & 15) * 17, (n & 15) * 17];
  return [n >> 16, (n >> 8) & 255, n & 255];
}

function mixed(a, b, share) {
  return a.map((x, i) => Math.round(x * share + b[i] * (1 - share)));
}

// shadeOf gives a band's colour and that of its seams.
function shadeOf(name, dimmed) {
  const key = name + (dimmed ? '~' : '');
  let v = theme.values.get('shade ' + key);
  if (!v) {
    const fill = dimmed ? mixed(rgb(name), rgb('--card'), 0.2) : rgb(name);
    v = { fill: pixel(fill), seam: pixel(mixed(fill, rgb('--card'), 0.45)) };
    theme.values.set('shade ' + key, v);
  }
  return v;
}

// pixel packs a colour as ImageData has it on the little-endian machines that
// browsers run on.
function pixel([r, g, b]) {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

function newRaster(p) {
  const { box } = p;
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(Math.round((box.right - box.left) * ratio), 1);
  const height = Math.max(Math.round((box.bottom - box.top) * ratio), 1);
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const per = width / (p.columns.length - 1);
  const x = (column) => Math.min(Math.round(column * per), width);
  const y = (bytes) => Math.max(0, Math.min(Math.round((p.y(bytes) - box.top) * ratio), height));
  const fill = (x0, x1, y0, y1, value) => {
    for (let row = y0; row < y1; row++) pixels.fill(value, row * width + x0, row * width + x1);
  };
  const least = Math.ceil(4 * ratio);
  return {
    // under fills everything below values, one for each column.
    under(values, shade) {
      const value = pixel(shade);
      for (let c = 0; c < values.length; c++) fill(x(c), x(c + 1), y(values[c]), height, value);
    },
    // between fills what lies between two edges; runs of the same are one.
    between(base, top, shade) {
      for (let c = 0; c < base.length; ) {
        let d = c + 1;
        while (d < base.length && base[d] === base[c] && top[d] === top[c]) d++;
        const [y0, y1] = [y(top[c]), y(base[c])];
        fill(x(c), x(d), y0, y1, shade.fill);
        if (y1 - y0 >= least) fill(x(c), x(d), y1 - 1, y1, shade.seam);
        c = d;
      }
    },
    // band fills a block along its lower edge.
    band(edge, bytes, shade) {
      for (let i = 0; i + 2 < edge.length; i += 2) {
        const [y0, y1] = [y(edge[i + 1] + bytes), y(edge[i + 1])];
        const [x0, x1] = [x(edge[i]), x(edge[i + 2])];
        if (y1 <= y0) continue;
        fill(x0, x1, y0, y1, shade.fill);
        if (y1 - y0 < least) continue;
        fill(x0, x1, y1 - 1, y1, shade.seam);
        if (i === 0 && edge[0] > 0 && x1 - x0 >= least) fill(x0, x0 + 1, y0, y1, shade.seam);
      }
    },
    put(c) {
      rasterSheet.width = width;
      rasterSheet.height = height;
      rasterSheet.getContext('2d').putImageData(image, 0, 0);
      c.drawImage(rasterSheet, box.left, box.top, box.right - box.left, box.bottom - box.top);
    },
  };
}
