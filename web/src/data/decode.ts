// Bytes of the page: base64 text → deflate → bytes.

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function inflate(base64: string): Promise<Uint8Array> {
  const stream = new Blob([fromBase64(base64)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function inflateText(base64: string): Promise<string> {
  return new TextDecoder().decode(await inflate(base64));
}

// A column of LEB128 numbers behind its length.
export class ColumnReader {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  private column(): Uint8Array {
    const b = this.bytes;
    const size = b[this.at] | (b[this.at + 1] << 8) | (b[this.at + 2] << 16) | (b[this.at + 3] << 24);
    const begin = this.at + 4;
    this.at = begin + (size >>> 0);
    return b.subarray(begin, this.at);
  }

  // Numbers up to 2^53. `to` decides how many.
  numbers<T extends Float64Array | Uint32Array | Uint8Array>(to: T): T {
    const from = this.column();
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
  starts(to: Float64Array): Float64Array {
    this.numbers(to);
    for (let i = 1; i < to.length; i++) to[i] += to[i - 1];
    return to;
  }

  // Zigzag, each after the one before it.
  signed(to: Float64Array): Float64Array {
    this.numbers(to);
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
}
