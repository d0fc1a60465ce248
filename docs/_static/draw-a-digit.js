// The page "Draw a digit": a model of scikit-learn's digits, which trickless.export.to_js has written,
// predicts what is drawn. Strokes are lists of points (x, y) in any unit.

const SIDE = 32; // of the bitmap, whose blocks of 4 x 4 pixels are counted, as for the training rows
const PEN = 2.1; // half the width of a line, in pixels of the bitmap

// Return the 64 counts of a drawing, which is moved and scaled to fill the bitmap as digits do.
export function countsOf(strokes) {
  const points = strokes.flat();
  const counts = new Float64Array(64);
  if (points.length === 0) return counts;
  const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  const room = SIDE - 2 * PEN;
  const scale = room / Math.max(bottom - top, (right - left) * 1.2, 1e-9);
  const place = ([x, y]) => [
    SIDE / 2 + (x - (left + right) / 2) * scale, SIDE / 2 + (y - (top + bottom) / 2) * scale];
  const lines = strokes.flatMap((stroke) => {
    const at = stroke.map(place);
    return at.length === 1 ? [[at[0], at[0]]] : at.slice(1).map((end, i) => [at[i], end]);
  });
  for (let row = 0; row < SIDE; row++) {
    for (let column = 0; column < SIDE; column++) {
      const near = lines.some((line) => distance([column + 0.5, row + 0.5], line) <= PEN);
      if (near) counts[8 * (row >> 2) + (column >> 2)] += 1;
    }
  }
  return counts;
}

// Return the distance of a point from a line between two points.
function distance([x, y], [[ax, ay], [bx, by]]) {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}

// Digits as they might be drawn; the page begins with one of them.
export const EXAMPLES = {
  0: [arc(0.5, 0.5, 0.3, 0.45, 0, 360)],
  1: [[[0.35, 0.2], [0.5, 0.05], [0.5, 0.95]]],
  2: [[...arc(0.5, 0.3, 0.28, 0.25, 180, 390), [0.2, 0.95], [0.8, 0.95]]],
  3: [[...arc(0.45, 0.27, 0.28, 0.22, 200, 440), ...arc(0.45, 0.71, 0.32, 0.24, 280, 510)]],
  4: [[[0.6, 0.95], [0.6, 0.05], [0.2, 0.65], [0.85, 0.65]]],
  5: [[[0.75, 0.05], [0.3, 0.05], [0.27, 0.45], ...arc(0.47, 0.66, 0.3, 0.28, 250, 500)]],
  6: [[[0.5, 0.05], [0.33, 0.35], ...arc(0.5, 0.72, 0.2, 0.21, 180, 540)]],
  7: [[[0.2, 0.05], [0.8, 0.05], [0.4, 0.95]], [[0.35, 0.5], [0.75, 0.5]]],
  8: [arc(0.5, 0.27, 0.22, 0.22, 90, 450), arc(0.5, 0.73, 0.27, 0.24, 270, 630)],
  9: [[...arc(0.5, 0.3, 0.25, 0.25, 0, 360), [0.75, 0.3], [0.7, 0.95]]],
};

// Return points of an ellipse from one angle to another, in degrees, clockwise from the right.
function arc(x, y, width, height, from, to) {
  return Array.from({ length: 25 }, (_, i) => {
    const angle = (from + ((to - from) * i) / 24) * Math.PI / 180;
    return [x + width * Math.cos(angle), y + height * Math.sin(angle)];
  });
}

// Let people draw on the canvas of the page, and show what the model says.
async function begin(canvas) {
  const model = await import("./digits.js");
  const pen = canvas.getContext("2d");
  const label = document.getElementById("digit-label");
  const set = document.getElementById("digit-set");
  const bars = document.getElementById("digit-bars");
  const seen = document.getElementById("digit-seen").getContext("2d");
  let strokes = [];

  function show() {
    pen.fillStyle = "white";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.lineWidth = canvas.width / 14;
    pen.lineCap = pen.lineJoin = "round";
    for (const stroke of strokes) {
      pen.beginPath();
      for (const [x, y] of [stroke[0], ...stroke]) pen.lineTo(x * canvas.width, y * canvas.height);
      pen.stroke();
    }
    const counts = countsOf(strokes);
    counts.forEach((count, i) => {
      const grey = Math.round(255 - (255 * count) / 16);
      seen.fillStyle = `rgb(${grey}, ${grey}, ${grey})`;
      seen.fillRect(i % 8, i >> 3, 1, 1);
    });
    const chances = strokes.length ? model.probabilities(counts) : [];
    label.textContent = strokes.length ? String(model.label(counts)) : "–";
    const isIn = strokes.length ? model.set(counts) : [];
    set.textContent = model.labels.filter((_, k) => isIn[k]).join(" or ") || "–";
    bars.replaceChildren(...model.labels.map((digit, k) => bar(digit, chances[k] ?? 0)));
  }

  function point(event) {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  }

  let drawing = false, isExample = true;
  canvas.addEventListener("pointerdown", (event) => {
    if (isExample) strokes = [];
    [drawing, isExample] = [true, false];
    canvas.setPointerCapture(event.pointerId);
    strokes.push([point(event)]);
    show();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drawing) return;
    strokes[strokes.length - 1].push(point(event));
    show();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, () => { drawing = false; });
  }
  document.getElementById("digit-clear").addEventListener("click", () => {
    [strokes, isExample] = [[], false];
    show();
  });
  const asked = new URLSearchParams(window.location.search).get("digit");
  strokes = EXAMPLES[asked] ?? EXAMPLES[7];
  show();
}

// Return a line of the chart: a digit, the bar of its probability, and the number.
function bar(digit, chance) {
  const line = document.createElement("div");
  const name = document.createElement("span"), meter = document.createElement("meter");
  const number = document.createElement("span");
  name.textContent = String(digit);
  meter.value = chance;
  number.textContent = `${(100 * chance).toFixed(1)} %`;
  line.append(name, meter, number);
  return line;
}

const canvas = globalThis.document?.getElementById("digit-canvas");
if (canvas) await begin(canvas);
