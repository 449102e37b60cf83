// Enlarges a picture by wheel, two fingers, double click and keys. Dragging moves an enlarged
// picture.

const MOST = 8;
const STEP = 1.5;
const SWIPE = 60; // px, the minimum length of a swipe

/**
 * Returns a view {scale, x, y} that is enlarged to `scale` so that the point (px, py) of the stage,
 * relative to its middle, keeps its position.
 */
export function zoomed(view, scale, px = 0, py = 0) {
  const next = Math.max(1, Math.min(MOST, scale));
  if (next === 1) return { scale: 1, x: 0, y: 0 };
  const ratio = next / view.scale;
  return { scale: next, x: px - (px - view.x) * ratio, y: py - (py - view.y) * ratio };
}

/**
 * Returns a view whose picture, `width` × `height` at scale 1, still covers the middle of the
 * stage.
 */
export function bounded({ scale, x, y }, width, height) {
  const limit = (size) => Math.max(0, (size * (scale - 1)) / 2);
  const [across, along] = [limit(width), limit(height)];
  return { scale, x: Math.max(-across, Math.min(across, x)), y: Math.max(-along, Math.min(along, y)) };
}

export class Zoom {
  #view = { scale: 1, x: 0, y: 0 };
  #points = new Map(); // pointer id -> {x, y}
  #moved = { x: 0, y: 0 };

  /**
   * `swiped(step)` is called to show the next (1) or previous (-1) picture, `changed()` after each
   * change of the view.
   */
  constructor(stage, { swiped, changed = () => {} }) {
    Object.assign(this, { stage, swiped, changed });
    stage.addEventListener("wheel", (event) => {
      if (!this.target) return;
      event.preventDefault();
      const [x, y] = this.#place(event);
      this.#set(zoomed(this.#view, this.scale * Math.exp(-event.deltaY / 300), x, y));
    }, { passive: false });
    stage.addEventListener("dblclick", (event) => {
      if (event.target === this.target) this.#set(this.scale > 1 ? zoomed(this.#view, 1) : zoomed(this.#view, 2.5, ...this.#place(event)));
    });
    stage.addEventListener("pointerdown", (event) => this.#down(event));
    stage.addEventListener("pointermove", (event) => this.#move(event));
    for (const type of ["pointerup", "pointercancel"]) stage.addEventListener(type, (event) => this.#up(event));
  }

  get scale() { return this.#view.scale; }

  /** Shows another picture, or none, at scale 1. */
  show(target) {
    this.target = target;
    this.#points.clear();
    this.#set({ scale: 1, x: 0, y: 0 });
  }

  /** Handles a key. Returns whether the key was used. */
  typed({ key }) {
    if (key === "+" || key === "=") this.by(1);
    else if (key === "-") this.by(-1);
    else if (key === "0") this.#set(zoomed(this.#view, 1));
    else if (this.scale > 1 && key.startsWith("Arrow")) {
      const [x, y] = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[key];
      this.#set({ scale: this.scale, x: this.#view.x + x, y: this.#view.y + y });
    } else return false;
    return true;
  }

  by(steps) {
    if (this.target) this.#set(zoomed(this.#view, this.scale * STEP ** steps));
  }

  #set(view) {
    if (!this.target) {
      this.#view = { scale: 1, x: 0, y: 0 };
      return this.changed();
    }
    this.#view = bounded(view, this.target.offsetWidth, this.target.offsetHeight);
    const { scale, x, y } = this.#view;
    this.target.style.transform = scale === 1 ? "" : `translate(${x}px, ${y}px) scale(${scale})`;
    this.stage.classList.toggle("zoomed", scale > 1);
    this.changed();
  }

  /** Returns the position of a pointer relative to the middle of the stage. */
  #place({ clientX, clientY }) {
    const { left, top, width, height } = this.stage.getBoundingClientRect();
    return [clientX - left - width / 2, clientY - top - height / 2];
  }

  #down(event) {
    if (event.button !== 0 || event.target.closest("button, video")) return;
    this.#points.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (this.#points.size === 1) this.#moved = { x: 0, y: 0 };
    if (event.target === this.target) event.preventDefault();
  }

  #move(event) {
    const before = this.#points.get(event.pointerId);
    if (!before) return;
    const point = { x: event.clientX, y: event.clientY };
    const others = [...this.#points].filter(([id]) => id !== event.pointerId).map(([, each]) => each);
    this.#points.set(event.pointerId, point);
    const [x, y] = [point.x - before.x, point.y - before.y];
    if (others.length === 1) {
      const [other] = others;
      const apart = (one) => Math.hypot(one.x - other.x, one.y - other.y) || 1;
      const middle = this.#place({ clientX: (point.x + other.x) / 2, clientY: (point.y + other.y) / 2 });
      this.#set(zoomed(this.#view, (this.scale * apart(point)) / apart(before), ...middle));
    } else if (this.scale > 1) this.#set({ scale: this.scale, x: this.#view.x + x, y: this.#view.y + y });
    else this.#moved = { x: this.#moved.x + x, y: this.#moved.y + y };
  }

  #up(event) {
    if (!this.#points.delete(event.pointerId) || this.#points.size > 0 || this.scale > 1) return;
    const { x, y } = this.#moved;
    if (event.type === "pointerup" && Math.abs(x) > SWIPE && Math.abs(x) > 2 * Math.abs(y)) this.swiped(x < 0 ? 1 : -1);
  }

  /** Whether the pointer moved during the last press, so that its click is to be ignored. */
  get wasMoved() { return Math.hypot(this.#moved.x, this.#moved.y) > 8; }
}
