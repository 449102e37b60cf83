// Encodes and decodes BlurHash (https://github.com/woltapp/blurhash), a short text that represents
// a blurred picture.

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~";
const number = (text) => [...text].reduce((value, digit) => value * 83 + Math.max(0, DIGITS.indexOf(digit)), 0);
const linear = (value) => (value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
const encode = (value) => {
  const level = Math.max(0, Math.min(1, value));
  return Math.round((level <= 0.0031308 ? level * 12.92 : 1.055 * level ** (1 / 2.4) - 0.055) * 255);
};
const signed = (value) => Math.sign(value) * value * value;

/** Draws `hash` on a canvas of 32 × 32 pixels. Returns null if it is not a BlurHash. */
export function blurCanvas(hash) {
  if (typeof hash !== "string" || hash.length < 6) return null;
  const sizes = number(hash[0]);
  const columns = (sizes % 9) + 1;
  const rows = Math.floor(sizes / 9) + 1;
  if (hash.length !== 4 + 2 * columns * rows) return null;
  const maximum = (number(hash[1]) + 1) / 166;
  const colors = [];
  for (let index = 0; index < columns * rows; index += 1) {
    if (index === 0) {
      const value = number(hash.slice(2, 6));
      colors.push([linear(value >> 16), linear((value >> 8) & 255), linear(value & 255)]);
    } else {
      const value = number(hash.slice(4 + index * 2, 6 + index * 2));
      colors.push([signed((Math.floor(value / 361) - 9) / 9) * maximum, signed(((Math.floor(value / 19) % 19) - 9) / 9) * maximum, signed(((value % 19) - 9) / 9) * maximum]);
    }
  }
  const size = 32;
  const canvas = document.createElement("canvas");
  canvas.width = size;
  canvas.height = size;
  const context = canvas.getContext("2d");
  const image = context.createImageData(size, size);
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      const sum = [0, 0, 0];
      for (let row = 0; row < rows; row += 1) {
        for (let column = 0; column < columns; column += 1) {
          const basis = Math.cos((Math.PI * x * column) / size) * Math.cos((Math.PI * y * row) / size);
          const color = colors[row * columns + column];
          for (let part = 0; part < 3; part += 1) sum[part] += color[part] * basis;
        }
      }
      image.data.set([encode(sum[0]), encode(sum[1]), encode(sum[2]), 255], (y * size + x) * 4);
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

const digits = (value, length) => Array.from({ length }, (_, index) => DIGITS[Math.floor(value / 83 ** (length - 1 - index)) % 83]).join("");

/**
 * Returns the BlurHash of a small picture ({width, height, data} with RGBA). `columns` and `rows`
 * are the numbers of components, 4 and 3 by default.
 */
export function blurHash({ width, height, data }, columns = 4, rows = 3) {
  const factors = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const sum = [0, 0, 0];
      for (let y = 0; y < height; y += 1) {
        for (let x = 0; x < width; x += 1) {
          const basis = Math.cos((Math.PI * column * (x + 0.5)) / width) * Math.cos((Math.PI * row * (y + 0.5)) / height);
          for (let part = 0; part < 3; part += 1) sum[part] += basis * linear(data[(y * width + x) * 4 + part]);
        }
      }
      const scale = (row || column ? 2 : 1) / (width * height);
      factors.push(sum.map((value) => value * scale));
    }
  }
  const [[red, green, blue], ...rest] = factors;
  const most = Math.max(...rest.flat().map(Math.abs));
  const maximum = Math.max(0, Math.min(82, Math.floor(most * 166 - 0.5)));
  const quantized = (value) => Math.max(0, Math.min(18, Math.floor(Math.sign(value) * Math.sqrt(Math.abs(value) / ((maximum + 1) / 166)) * 9 + 9.5)));
  return digits(columns - 1 + (rows - 1) * 9, 1) + digits(maximum, 1) + digits((encode(red) << 16) + (encode(green) << 8) + encode(blue), 4)
    + rest.map((color) => digits(color.map(quantized).reduce((value, each) => value * 19 + each, 0), 2)).join("");
}
