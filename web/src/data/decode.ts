// Bytes of the page: base64 text → deflate → bytes.

// Newer browsers decode it themselves, ten times as fast.
const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// Not through a Blob: making one asks another process, and takes longer than all the rest.
export async function inflate(base64: string): Promise<Uint8Array> {
  const stream = new DecompressionStream('deflate-raw');
  const writer = stream.writable.getWriter();
  void writer.write(fromBase64(base64)).then(() => writer.close());
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = stream.readable.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    parts.push(read.value);
    size += read.value.length;
  }
  if (parts.length === 1) return parts[0];
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export async function inflateText(base64: string): Promise<string> {
  return new TextDecoder().decode(await inflate(base64));
}

// Columns one after the other, each behind its length.
export function columnsOf(bytes: Uint8Array, count: number): Uint8Array[] {
  const columns: Uint8Array[] = [];
  for (let at = 0; columns.length < count; ) {
    const size = (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
    columns.push(bytes.subarray(at + 4, at + 4 + size));
    at += 4 + size;
  }
  return columns;
}

// LEB128 numbers up to 2^53. `to` decides how many.
export function numbers<T extends Float64Array | Uint32Array | Uint8Array>(from: Uint8Array, to: T): T {
  let at = 0;
  for (let i = 0; i < to.length; i++) {
    let byte = from[at++];
    let value = byte & 127;
    let scale = 128;
    while (byte > 127) {
      byte = from[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    }
    to[i] = value;
  }
  return to;
}

// Each after the one before it.
export function sums(from: Uint8Array, to: Float64Array): Float64Array {
  numbers(from, to);
  for (let i = 1; i < to.length; i++) to[i] += to[i - 1];
  return to;
}

// Zigzag, each after the one before it.
export function signedSums(from: Uint8Array, to: Float64Array): Float64Array {
  numbers(from, to);
  let before = 0;
  for (let i = 0; i < to.length; i++) {
    const value = to[i];
    // Shifts take 32 bits, and are ten times as fast.
    const half = value < 0x80000000 ? value >>> 1 : Math.floor(value / 2);
    before += value - 2 * half === 0 ? half : -half - 1;
    to[i] = before;
  }
  return to;
}
