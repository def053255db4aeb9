// The works of the suite `cpu` in plain JavaScript, of the same structure as the native ones.

const { fround, imul, sqrt } = Math;

export function w1(input: Int32Array, output: Int32Array): void {
  for (let i = 0; i < output.length; i++) output[i] = imul(input[i]!, 3) + 1;
}

export function w2(input: Float32Array, output: Float32Array): void {
  const p = fround(0.999);
  const q = fround(0.001);
  for (let i = 0; i < output.length; i++) {
    let x = input[i]!;
    for (let step = 0; step < 64; step++) x = fround(fround(x * p) + q);
    output[i] = x;
  }
}

export function w3(input: Float32Array, output: Float32Array): void {
  for (let i = 0; i < output.length; i++) {
    let sum = fround(0);
    for (let k = 0; k <= 16; k++) sum = fround(sum + input[i + k]!);
    output[i] = sum;
  }
}

export function w4(input: Float32Array, output: Float32Array, n: number): void {
  const second = n * n;
  output.fill(0);
  for (let row = 0; row < n; row++) {
    for (let k = 0; k < n; k++) {
      const left = input[row * n + k]!;
      for (let column = 0; column < n; column++) {
        const product = fround(left * input[second + k * n + column]!);
        output[row * n + column] = output[row * n + column]! + product;
      }
    }
  }
}

export function w5(input: Uint32Array, output: Int32Array): void {
  for (let i = 0; i < output.length; i++) {
    let x = input[i]!;
    let steps = 0;
    while (x > 1 && steps < 1000) {
      x = (x & 1) === 1 ? (imul(x, 3) + 1) >>> 0 : x >>> 1;
      steps++;
    }
    output[i] = steps;
  }
}

export function r(input: Float32Array, output: Float32Array): void {
  const part = input.length / 256;
  for (let block = 0; block < 256; block++) {
    let sum = 0;
    for (let i = block * part; i < (block + 1) * part; i++) sum += input[i]!;
    output[block] = sum;
  }
}

export function h(input: Uint8Array, output: Uint32Array): void {
  output.fill(0);
  for (let i = 0; i < input.length; i++) output[input[i]!]! += 1;
}

export function t(input: Float32Array, output: Float32Array, n: number): void {
  for (let y = 0; y < n; y += 32) {
    for (let x = 0; x < n; x += 32) {
      for (let j = 0; j < 32; j++) {
        for (let i = 0; i < 32; i++) output[(x + j) * n + y + i] = input[(y + i) * n + x + j]!;
      }
    }
  }
}

export function d(x: Float64Array, y: Float64Array): void {
  for (let i = 0; i < y.length; i++) y[i] = 1.5 * x[i]! + y[i]!;
}

export function n(input: Float32Array, output: Float32Array): void {
  const count = input.length / 4;
  for (let i = 0; i < count; i++) {
    let ax = 0;
    let ay = 0;
    let az = 0;
    for (let j = 0; j < count; j++) {
      const dx = input[4 * j]! - input[4 * i]!;
      const dy = input[4 * j + 1]! - input[4 * i + 1]!;
      const dz = input[4 * j + 2]! - input[4 * i + 2]!;
      const inverse = 1 / sqrt(dx * dx + dy * dy + dz * dz + 0.01);
      const force = input[4 * j + 3]! * inverse * inverse * inverse;
      ax += force * dx;
      ay += force * dy;
      az += force * dz;
    }
    output[3 * i] = ax;
    output[3 * i + 1] = ay;
    output[3 * i + 2] = az;
  }
}

export function m(_: Int32Array, output: Int32Array, rows: number): void {
  const columns = (rows * 16) / 9;
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      const real = fround(fround(-2.2) + fround(fround(x * 3) / columns));
      const imaginary = fround(fround(-1.2) + fround(fround(y * fround(2.4)) / rows));
      let a = 0;
      let b = 0;
      let step = 0;
      while (fround(fround(a * a) + fround(b * b)) < 4 && step < 256) {
        const next = fround(fround(fround(a * a) - fround(b * b)) + real);
        b = fround(fround(fround(2 * a) * b) + imaginary);
        a = next;
        step++;
      }
      output[y * columns + x] = step;
    }
  }
}

export function b(input: Int32Array, keys: Int32Array): void {
  keys.set(input);
  for (let part = 0; part < keys.length; part += 512) {
    for (let size = 2; size <= 512; size *= 2) {
      for (let stride = size >> 1; stride > 0; stride >>= 1) {
        for (let t = 0; t < 256; t++) {
          const low = 2 * t - (t & (stride - 1));
          const [x, y] = [keys[part + low]!, keys[part + low + stride]!];
          if (x > y === ((low & size) === 0)) {
            keys[part + low] = y;
            keys[part + low + stride] = x;
          }
        }
      }
    }
  }
}

export function c(input: Uint8Array, output: Uint8Array, n: number): void {
  const pitch = 3 * (n + 2);
  for (let y = 0; y < n; y++) {
    for (let i = 0; i < 3 * n; i++) {
      let sum = 0;
      for (let row = 0; row < 3; row++) {
        for (let pixel = 0; pixel < 3; pixel++) sum += input[(y + row) * pitch + i + 3 * pixel]!;
      }
      output[y * 3 * n + i] = (sum * 7282) >> 16;
    }
  }
}
