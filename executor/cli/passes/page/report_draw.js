
// The tab of the graph: drawing, folding, search, and what is known of a node.
const deviceColours = new Map();
for (const n of after.all.concat(before.all)) {
  const device = n.on || n.device;
  if (device && !deviceColours.has(device)) deviceColours.set(device, [205, 25, 150, 280, 340, 60, 180, 310][deviceColours.size % 8]);
}
const mostUs = (data.times?.nodes || []).reduce((most, row) => Math.max(most, row.p50_us), 0);
const changeHues = { new: 140, gone: 8, changed: 40 };

class GraphTab {
  constructor() {
    this.side = after;
    this.body = "";
    this.colour = "op";
    this.roots = new Map();
    this.chosen = null;
    this.zoom = { k: 1, x: 0, y: 0 };
    this.element = make("section", "graph-tab");
    this.build();
  }

  build() {
    this.canvas = svgMake("svg", { class: "canvas", role: "img", "aria-label": "the graph", tabindex: "0" });
    this.layer = svgMake("g", {});
    this.canvas.append(this.layer);
    this.mini = svgMake("svg", { class: "mini", "aria-hidden": "true" });
    this.legend = make("div", "legend");
    this.note = make("div", "note soft");
    this.detail = make("aside", "detail");
    const tools = make("div", "tools",
      button("Fit", "Show all", () => this.fit(true)), button("+", "Larger", () => this.scaleBy(1.3)),
      button("−", "Smaller", () => this.scaleBy(1 / 1.3)),
      button("Unfold", "Open more scopes", () => { openUpTo(this.root(), this.visible.boxes.length + 120); this.redraw(true); }),
      button("Fold", "Close all scopes", () => { foldAll(this.root()); this.redraw(true); }));
    const stage = make("div", "stage", this.canvas, this.mini, tools, this.legend, this.note);
    this.element.append(make("div", "bar-of-graph", this.searchBox(), ...this.choices()), make("div", "graph-and-detail", stage, this.detail));
    this.showDetail(null);
    this.listen();
  }

  choices() {
    const select = (label, options, value, onchange) => {
      const e = make("select", "", ...options.map(([v, text]) => Object.assign(make("option", "", text), { value: v })));
      e.value = value;
      e.setAttribute("aria-label", label);
      e.onchange = () => onchange(e.value);
      return make("label", "choice", make("span", "soft", label), e);
    };
    const bodies = side => [...new Set(side.graph.bodies.map(n => n.body))];
    const same = before.all.length === after.all.length && after.all.every(n => !n.change);
    const colours = [["op", "kind of op"]];
    if (deviceColours.size > 0) colours.push(["device", "device"]);
    if (mostUs > 0) colours.push(["time", "time"]);
    if (!same) colours.push(["change", "change"]);
    const sides = select("graph", [["after", `optimized (${data.after.count})`], ["before", `as in the file (${data.before.count})`]], "after", v => this.show(v === "after" ? after : before, ""));
    this.sideSelect = sides.querySelector("select");
    this.bodySelect = select("function", [["", "main"]], "", v => this.show(this.side, v));
    this.refreshBodies = () => {
      const list = bodies(this.side), e = this.bodySelect.querySelector("select");
      e.replaceChildren(...["", ...list].map(name => Object.assign(make("option", "", name ? cut(name, 50) : "the graph itself"), { value: name })));
      e.value = this.body;
      this.bodySelect.hidden = list.length === 0;
    };
    this.refreshBodies();
    return [sides, this.bodySelect, select("colour", colours, "op", v => { this.colour = v; this.redraw(false); })];
  }

  nodes() {
    return this.body ? this.side.graph.bodies.filter(n => n.body === this.body) : this.side.graph.nodes;
  }
  root() {
    const key = (this.side === after ? "a" : "b") + this.body;
    if (!this.roots.has(key)) {
      const root = scopesOf(this.nodes());
      openUpTo(root, onPhone() ? 50 : 100);
      this.roots.set(key, root);
    }
    return this.roots.get(key);
  }

  show(side, body) {
    this.side = side;
    this.body = body;
    this.sideSelect.value = side === after ? "after" : "before";
    this.refreshBodies();
    this.redraw(true);
  }

  // Draws anew; `fits`: all of it comes into view.
  redraw(fits) {
    this.visible = place(visibleOf(this.root()));
    this.drawn = new Map();
    const frames = svgMake("g", {}), edges = svgMake("g", {}), labels = svgMake("g", {}), boxes = svgMake("g", {});
    for (const frame of this.visible.frames) frames.append(this.drawFrame(frame));
    for (const edge of this.visible.edges) {
      edges.append(svgMake("path", { class: "edge" + (edge.control ? " control" : ""), d: pathOf(edge), "marker-end": "url(#arrow)" }));
      if (edge.label && edge.at.x !== undefined) {
        const text = svgMake("text", { class: "edge-label", x: edge.at.x, y: edge.at.y + 4, "text-anchor": "middle" });
        text.textContent = edge.label;
        labels.append(text);
      }
    }
    for (const box of this.visible.boxes) boxes.append(this.drawBox(box));
    const arrow = svgMake("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
      svgMake("path", { d: "M0,0.5 L8,4 L0,7.5 z", class: "arrow" }));
    this.layer.replaceChildren(svgMake("defs", {}, arrow), frames, edges, labels, boxes);
    this.drawMini();
    this.drawLegend();
    const shown = this.visible.boxes.filter(b => !(b.item instanceof Group)).length;
    const total = this.nodes().length, inside = this.nodes().filter(n => n.inside).length;
    this.note.textContent = total === 0 ? "This graph has no nodes." :
      `${plural(total, "node")}` + (inside ? `, ${plural(inside, "constant")} of them within their readers` : "") +
      (shown + inside < total ? `; click on a scope to open it` : "") + (this.side.graph.complete ? "" : "; more are left out of this page");
    if (fits) this.fit(false);
    this.mark();
  }

  hueOf(item) {
    if (this.colour === "op") return item instanceof Group ? undefined : kindOf(item.node.op)[1];
    if (this.colour === "device") {
      const devices = item instanceof Group ? [...item.devices].sort((a, b) => b[1] - a[1])[0][0] : item.node.on || item.node.device;
      return deviceColours.get(devices);
    }
    if (this.colour === "change") {
      if (item instanceof Group) return item.changes ? 40 : undefined;
      return changeHues[item.node.change];
    }
    return undefined;
  }

  drawFrame(frame) {
    const { x, y, width, height, item } = frame;
    const g = svgMake("g", { class: "frame", transform: `translate(${x - width / 2},${y - height / 2})` });
    const text = svgMake("text", { x: 10, y: 15 });
    text.textContent = "▾ " + cut(item.label, Math.max(8, Math.floor(width / 8)));
    const title = svgMake("title", {});
    title.textContent = `${item.label}: ${plural(item.count, "node")}. Click to fold.`;
    g.append(svgMake("rect", { width, height, rx: 10 }), text, title);
    g.onclick = () => this.toggle(item);
    return g;
  }

  drawBox(box) {
    const { item, width, height } = box, isGroup = item instanceof Group, hue = this.hueOf(item);
    const g = svgMake("g", { class: isGroup ? "box folded" : `box${item.node.change ? " " + item.node.change : ""}`,
                             transform: `translate(${box.x - width / 2},${box.y - height / 2})` });
    if (hue !== undefined) g.style.setProperty("--hue", hue);
    const us = isGroup ? item.us : item.node.us, heat = this.colour === "time" && us > 0 ? us / (isGroup ? totalUs : mostUs) : undefined;
    if (heat !== undefined) g.style.setProperty("--heat", Math.round(100 * Math.sqrt(Math.min(1, heat))) + "%");
    const r = 6, head = `M0,24 V${r} Q0,0 ${r},0 H${width - r} Q${width},0 ${width},${r} V24 Z`;
    g.append(svgMake("rect", { class: "body", width, height, rx: r }),
             svgMake("path", { class: "head" + (hue !== undefined ? " coloured" : "") + (heat !== undefined ? " hot" : ""), d: head }),
             svgMake("rect", { class: "border", width, height, rx: r }));
    const title = svgMake("text", { class: "op", x: width / 2, y: 16, "text-anchor": "middle" });
    title.textContent = (isGroup ? "▸ " : "") + box.head;
    g.append(title);
    box.lines.forEach((line, i) => {
      const text = svgMake("text", i === 0 ? { class: "name", x: width / 2, y: 38, "text-anchor": "middle" } : { class: "constant", x: 10, y: 38 + 14 * i });
      text.textContent = line;
      g.append(text);
    });
    const tip = svgMake("title", {});
    tip.textContent = isGroup ? `${item.label}: ${plural(item.count, "node")}, ${opsText(item)}. Click to open.`
      : `${cut(item.node.name, 300)} (${item.node.op})${item.node.on ? " on " + item.node.on : ""}${us ? ", " + showUs(us) : ""}`;
    g.append(tip);
    g.onclick = () => isGroup ? this.toggle(item) : this.choose(item.node);
    this.drawn.set(item.key, { g, box });
    return g;
  }

  // Opens or folds a scope, and keeps it where it is on the screen.
  toggle(group) {
    if (this.moved) return;
    const centre = () => this.drawn.get(group.key)?.box || this.visible.frames.find(f => f.item === group);
    const at = centre(), screen = { x: at.x * this.zoom.k + this.zoom.x, y: (at.y - at.height / 2) * this.zoom.k + this.zoom.y };
    group.open = !group.open;
    this.redraw(false);
    const now = centre();
    this.zoom.x = screen.x - now.x * this.zoom.k;
    this.zoom.y = screen.y - (now.y - now.height / 2) * this.zoom.k;
    this.apply();
  }

  choose(node) {
    if (this.moved) return;
    this.chosen = node;
    this.mark();
    this.showDetail(node);
  }

  mark() {
    for (const { g } of this.drawn.values()) g.classList.remove("chosen");
    const at = this.chosen && this.visible.boxOf.get(drawnFor(this.chosen));
    if (at) this.drawn.get(at.item.key).g.classList.add("chosen");
  }

  // Shows the node of this name: of the graph in view, or else of the other one, or else what it
  // became or was made from.
  focus(name) {
    const other = this.side === after ? before : after;
    let side = this.side, node = side.byName.get(name);
    if (!node) { side = other; node = other.byName.get(name); }
    if (!node) return false;
    if (side !== this.side || node.body !== this.body) this.show(side, node.body);
    const root = this.root();
    const shown = drawnFor(node);
    const path = pathTo(root, shown);
    for (const group of path) group.open = true;
    this.redraw(false);
    this.chosen = node;
    const box = this.visible.boxOf.get(shown);
    if (box) this.centre(box);
    this.mark();
    this.showDetail(node);
    return true;
  }

  centre(box) {
    const { width, height } = this.size();
    this.zoom.k = Math.max(this.zoom.k, 0.8);
    this.zoom.x = width / 2 - box.x * this.zoom.k;
    this.zoom.y = height / 2 - box.y * this.zoom.k;
    this.apply();
  }

  size() {
    const { width, height } = this.canvas.getBoundingClientRect();
    return { width: width || 800, height: height || 560 };
  }
  // `all`: as small as it takes; else text stays readable, and the beginning of the graph shows.
  fit(all) {
    const { width, height } = this.size(), b = this.visible.bounds, pad = onPhone() ? 64 : 40;
    const whole = Math.min((width - 2 * pad) / Math.max(b.width, 1), (height - 2 * pad) / Math.max(b.height, 1), 1.25);
    const k = all ? whole : Math.max(whole, Math.min(1, Math.max(0.7, (width - 2 * pad) / Math.max(b.width, 1))));
    const first = this.visible.boxes.reduce((a, c) => !a || c.y - c.height / 2 < a.y - a.height / 2 ? c : a, null);
    const middle = b.width * k <= width || !first ? b.x + b.width / 2 : first.x;
    this.zoom = { k, x: width / 2 - middle * k, y: b.height * k <= height ? height / 2 - (b.y + b.height / 2) * k : pad - b.y * k };
    this.apply();
  }
  scaleBy(f, at) {
    const { width, height } = this.size();
    const p = at || { x: width / 2, y: height / 2 }, k = Math.min(4, Math.max(0.02, this.zoom.k * f));
    this.zoom.x = p.x - (p.x - this.zoom.x) * k / this.zoom.k;
    this.zoom.y = p.y - (p.y - this.zoom.y) * k / this.zoom.k;
    this.zoom.k = k;
    this.apply();
  }
  apply() {
    const { k, x, y } = this.zoom, { width, height } = this.size();
    this.layer.setAttribute("transform", `translate(${x},${y}) scale(${k})`);
    if (!this.view) return;
    const view = { x: -x / k, y: -y / k, width: width / k, height: height / k };
    for (const key in view) this.view.setAttribute(key, view[key]);
  }

  drawMini() {
    const b = this.visible.bounds, pad = Math.max(b.width, b.height) * 0.03 + 10;
    this.mini.setAttribute("viewBox", `${b.x - pad} ${b.y - pad} ${b.width + 2 * pad} ${b.height + 2 * pad}`);
    const rect = (cls, at) => svgMake("rect", { class: cls, x: at.x - at.width / 2, y: at.y - at.height / 2, width: at.width, height: at.height });
    this.view = svgMake("rect", { class: "view" });
    this.mini.replaceChildren(...this.visible.frames.map(f => rect("mini-frame", f)), ...this.visible.boxes.map(box => {
      const e = rect("mini-box", box), hue = this.hueOf(box.item);
      if (hue !== undefined) { e.style.setProperty("--hue", hue); e.classList.add("coloured"); }
      return e;
    }), this.view);
  }

  drawLegend() {
    const chip = (hue, text, cls) => {
      const dot = make("i", cls || "coloured");
      if (hue !== undefined) dot.style.setProperty("--hue", hue);
      return make("span", "chip", dot, text);
    };
    const boxes = this.visible.boxes.map(b => b.item), nodes = boxes.filter(i => !(i instanceof Group)).map(i => i.node);
    let chips = [];
    if (this.colour === "op") {
      const kinds = new Set(nodes.map(n => kindOf(n.op)));
      chips = opKinds.filter(kind => kinds.has(kind)).map(([name, hue]) => chip(hue, name));
    } else if (this.colour === "device") {
      chips = [...deviceColours].map(([name, hue]) => chip(hue, name));
    } else if (this.colour === "change") {
      chips = [["new", 140], ["changed", 40], ["gone", 8]].map(([name, hue]) => chip(hue, name));
    } else {
      chips = [chip(undefined, `hot: up to ${showUs(mostUs)} a run`, "hot")];
    }
    this.legend.replaceChildren(...chips);
  }

  listen() {
    const pointers = new Map();
    const local = e => { const r = this.canvas.getBoundingClientRect(); return { x: e.clientX - r.left, y: e.clientY - r.top }; };
    this.canvas.addEventListener("wheel", e => { e.preventDefault(); this.scaleBy(Math.exp(-e.deltaY * (e.ctrlKey ? 0.01 : 0.0016)), local(e)); }, { passive: false });
    this.canvas.onpointerdown = e => { if (e.button === 0) { pointers.set(e.pointerId, local(e)); if (pointers.size === 1) this.moved = false; } };
    this.canvas.onpointermove = e => {
      const old = pointers.get(e.pointerId);
      if (!old) return;
      const now = local(e);
      if (!this.moved && Math.hypot(now.x - old.x, now.y - old.y) < 4) return;
      if (!this.moved) { this.moved = true; this.canvas.setPointerCapture(e.pointerId); }
      if (pointers.size === 2) {
        const [[, other]] = [...pointers].filter(([id]) => id !== e.pointerId);
        this.scaleBy(Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(old.x - other.x, old.y - other.y)), other);
      } else {
        this.zoom.x += now.x - old.x;
        this.zoom.y += now.y - old.y;
        this.apply();
      }
      pointers.set(e.pointerId, now);
    };
    this.canvas.onpointerup = this.canvas.onpointercancel = e => { pointers.delete(e.pointerId); setTimeout(() => { this.moved = false; }); };
    this.canvas.onkeydown = e => {
      const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[e.key];
      if (step) { this.zoom.x += step[0]; this.zoom.y += step[1]; this.apply(); e.preventDefault(); }
      if (e.key === "+" || e.key === "=") this.scaleBy(1.2);
      if (e.key === "-") this.scaleBy(1 / 1.2);
      if (e.key === "0") this.fit(true);
    };
    const jump = e => {
      const r = this.mini.getBoundingClientRect(), vb = this.mini.viewBox.baseVal, f = Math.min(r.width / vb.width, r.height / vb.height);
      const x = vb.x + vb.width / 2 + (e.clientX - r.left - r.width / 2) / f, y = vb.y + vb.height / 2 + (e.clientY - r.top - r.height / 2) / f;
      const { width, height } = this.size();
      this.zoom.x = width / 2 - x * this.zoom.k;
      this.zoom.y = height / 2 - y * this.zoom.k;
      this.apply();
    };
    this.mini.onpointerdown = e => { this.mini.setPointerCapture(e.pointerId); jump(e); };
    this.mini.onpointermove = e => { if (this.mini.hasPointerCapture(e.pointerId)) jump(e); };
  }

  searchBox() {
    const input = make("input"), hits = make("div", "hits");
    input.type = "search";
    input.placeholder = "Search by name or op";
    input.setAttribute("aria-label", "Search a node by name or op");
    hits.hidden = true;
    let at = 0, found = [];
    const mark = () => { [...hits.querySelectorAll(".hit")].forEach((e, i) => e.classList.toggle("on", i === at)); hits.querySelector(".hit.on")?.scrollIntoView({ block: "nearest" }); };
    const go = i => { if (found[i]) { hits.hidden = true; this.focus(found[i].name); } };
    input.oninput = () => {
      const { list, total } = findNodes(input.value);
      found = list;
      at = 0;
      hits.replaceChildren(...found.map((n, i) => {
        const e = make("div", "hit", make("b", "", cut(n.op, 40)), " ", make("span", "soft", cutFront(n.name, 90)), n.change === "gone" ? make("span", "gone", " in the file only") : "");
        e.onpointerdown = event => { event.preventDefault(); go(i); };
        return e;
      }), make("div", "soft tail", total === 0 ? "no node has this in its name or op" : total > found.length ? `${total.toLocaleString("en")} nodes; the first ${found.length} are shown` : plural(total, "node")));
      hits.hidden = input.value.trim() === "";
      mark();
    };
    input.onkeydown = e => {
      if (e.key === "ArrowDown" || e.key === "ArrowUp") { at = Math.max(0, Math.min(found.length - 1, at + (e.key === "ArrowDown" ? 1 : -1))); mark(); e.preventDefault(); }
      if (e.key === "Enter") go(at);
      if (e.key === "Escape") hits.hidden = true;
    };
    input.onblur = () => { hits.hidden = true; };
    input.onfocus = () => { if (input.value.trim()) input.oninput(); };
    return make("div", "search", input, hits);
  }

  showDetail(node) {
    this.detail.replaceChildren(...(node ? describeNode(node, name => this.focus(name)) : describeModel(name => this.focus(name))));
    this.detail.scrollTop = 0;
    if (node) this.detail.prepend(button("×", "Close", () => { this.chosen = null; this.mark(); this.showDetail(null); }, "close"));
    this.element.classList.toggle("has-node", node !== null);
  }
}

const opsText = group => [...group.ops].sort((a, b) => b[1] - a[1]).slice(0, 6).map(([op, n]) => `${op} ${n}`).join(", ");

// The node in whose box a node is drawn: constants stand in that of their first reader.
function drawnFor(node) {
  while (node.inside) node = node.readers[0];
  return node;
}

function pathTo(root, node) {
  const stack = [root];
  while (stack.length) {
    const group = stack.pop();
    for (const child of group.children) {
      if (child instanceof Group) stack.push(child);
      else if (child.node === node) {
        const path = [];
        for (let at = child.parent; at; at = at.parent) path.push(at);
        return path;
      }
    }
  }
  return [];
}

// A smooth line through the points: curves between the middles of its pieces.
function pathOf(edge) {
  const p = edge.points;
  if (p.length < 2) {
    const { from, to } = edge;
    return `M${from.x},${from.y + from.height / 2} L${to.x},${to.y - to.height / 2}`;
  }
  let d = `M${p[0].x},${p[0].y}`;
  for (let i = 1; i + 1 < p.length; ++i) d += ` Q${p[i].x},${p[i].y} ${(p[i].x + p[i + 1].x) / 2},${(p[i].y + p[i + 1].y) / 2}`;
  return d + ` L${p.at(-1).x},${p.at(-1).y}`;
}

const kMostHits = 100;
function findNodes(text) {
  const words = plain(text.trim()).split(/\s+/).filter(Boolean);
  if (!words.length) return { list: [], total: 0 };
  const all = after.all.concat(before.all.filter(n => n.change === "gone"));
  const ranked = [];
  for (const n of all) {
    const name = plain(n.name), op = plain(n.op);
    if (!words.every(w => name.includes(w) || op.includes(w))) continue;
    ranked.push([name === words[0] ? 0 : op === words[0] ? 1 : name.endsWith("/" + words[0]) ? 2 : name.startsWith(words[0]) ? 3 : 4, n]);
  }
  ranked.sort((a, b) => a[0] - b[0]);
  return { list: ranked.slice(0, kMostHits).map(([, n]) => n), total: ranked.length };
}
