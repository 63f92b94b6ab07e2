// The scene as the program writes it: magic, length of the head, head as
// JSON, columns of varints.
const magic = [0x50, 0x4c, 0x56, 1];

// unsigned reads a column of varints into an array; beyond 2^53 the last bits
// are lost, which only addresses of no GPU reach.
function unsigned(bytes, at, out) {
  for (let i = 0; i < out.length; i++) {
    let b = bytes[at++];
    if (b < 128) {
      out[i] = b;
      continue;
    }
    let v = b & 127;
    let scale = 128;
    do {
      b = bytes[at++];
      v += (b & 127) * scale;
      scale *= 128;
    } while (b >= 128);
    out[i] = v;
  }
  return out;
}

// sums reads a column of zigzag differences.
function sums(bytes, at, out) {
  let sum = 0;
  for (let i = 0; i < out.length; i++) {
    let b = bytes[at++];
    let v = b & 127;
    let scale = 128;
    while (b >= 128) {
      b = bytes[at++];
      v += (b & 127) * scale;
      scale *= 128;
    }
    sum += v % 2 ? -(v + 1) / 2 : v / 2;
    out[i] = sum;
  }
  return out;
}

// signedColumns hold differences; all others are plain.
const signedColumns = new Set(['start', 'addr', 'time']);
const narrowColumns = new Set(['start', 'life', 'shape', 'stackFrames', 'stackDepth', 'stackLine', 'frameName', 'frameFile', 'frameLine', 'frameDull']);

function decodeScene(buffer) {
  const bytes = new Uint8Array(buffer);
  if (bytes.length < 8 || magic.some((m, i) => bytes[i] !== m)) throw new Error('the data of this page is damaged');
  const size = new DataView(buffer).getUint32(4, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size)));
  const columns = {};
  let at = 8 + size;
  for (const c of head.columns) {
    const out = narrowColumns.has(c.name) ? new Uint32Array(c.count) : new Float64Array(c.count);
    columns[c.name] = (signedColumns.has(c.name) ? sums : unsigned)(bytes, at, out);
    at += c.bytes;
  }
  return { head, columns };
}
