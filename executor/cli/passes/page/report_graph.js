
// The nodes of a graph in scopes that fold, and the place of what is shown.
const kMostDepth = 24, kMostInGroup = 100, kSection = 50, kFrameLabel = 14;

class Group {
  constructor(key, label, parent) {
    this.key = key;
    this.label = label;
    this.parent = parent;
    this.children = [];
    this.open = false;
  }
}

// Folds the nodes by the scopes in their names. A scope of many members has sections, in the order
// in which they run.
function scopesOf(nodes) {
  const root = new Group("", "", null), groups = new Map([["", root]]);
  root.open = true;
  topological(nodes).forEach((node, order) => {
    if (node.inside) return;
    const parts = node.local.split("/");
    let at = root, path = "";
    for (const part of parts.slice(0, Math.min(parts.length - 1, kMostDepth))) {
      path += part + "/";
      let next = groups.get(path);
      if (!next) {
        next = new Group("s:" + path, part, at);
        groups.set(path, next);
        at.children.push(next);
      }
      at = next;
    }
    at.children.push({ key: "n:" + node.name, node, parent: at, order });
  });
  simplify(root);
  sumUp(root);
  cutIntoSections(root);
  return root;
}

// A scope with one member is that member.
function simplify(group) {
  group.children = group.children.map(child => {
    if (!(child instanceof Group)) return child;
    simplify(child);
    if (child.children.length !== 1) return child;
    const only = child.children[0];
    if (only instanceof Group) only.label = child.label + "/" + only.label;
    only.parent = group;
    return only;
  });
}

// Numbers that a folded scope tells of its nodes.
function sumUp(group) {
  const sums = { count: 0, us: 0, order: Infinity, constants: 0, ops: new Map(), devices: new Map(), changes: 0 };
  for (const child of group.children) {
    if (child instanceof Group) {
      sumUp(child);
      for (const key of ["count", "us", "constants", "changes"]) sums[key] += child[key];
      for (const key of ["ops", "devices"]) child[key].forEach((n, name) => sums[key].set(name, (sums[key].get(name) || 0) + n));
      sums.order = Math.min(sums.order, child.order);
      continue;
    }
    const node = child.node, device = node.on || node.device;
    sums.count += 1;
    sums.us += node.us || 0;
    sums.changes += node.change ? 1 : 0;
    sums.order = Math.min(sums.order, child.order);
    sums.ops.set(node.op, (sums.ops.get(node.op) || 0) + 1);
    sums.devices.set(device, (sums.devices.get(device) || 0) + 1);
    for (const i of node.from) if (i.node.inside) sums.constants += Math.max(0, i.node.bytes?.[0] || 0);
  }
  Object.assign(group, sums);
}

function cutIntoSections(group) {
  for (const child of group.children) if (child instanceof Group) cutIntoSections(child);
  for (let level = 0; group.children.length > kMostInGroup; ++level) {
    const members = group.children.sort((a, b) => a.order - b.order);
    const size = Math.ceil(members.length / Math.ceil(members.length / kSection));
    group.children = [];
    for (let i = 0; i < members.length; i += size) {
      const part = members.slice(i, i + size), name = m => m.label ?? m.node.local.split("/").at(-1);
      const first = part[0].first ?? name(part[0]), last = part.at(-1).last ?? name(part.at(-1));
      const section = new Group(`${group.key}#${level}.${i}`, `${cut(first, 18)} … ${cut(last, 18)}`, group);
      Object.assign(section, { first, last, section: true, children: part });
      for (const member of part) member.parent = section;
      group.children.push(section);
    }
    for (const section of group.children) sumUp(section);
  }
}

// Opens scopes, the largest that fits first, until about so many boxes are shown. A section stays
// closed where that would draw a tangle.
function openUpTo(root, most) {
  let shown = visibleOf(root).boxes.length;
  const closed = [], collect = group => group.children.forEach(c => {
    if (c instanceof Group) c.open ? collect(c) : closed.push(c);
  });
  collect(root);
  for (;;) {
    closed.sort((a, b) => a.count - b.count);
    let i = closed.length - 1;
    while (i >= 0 && shown + closed[i].children.length - 1 > most) --i;
    if (i < 0) return;
    const [group] = closed.splice(i, 1);
    group.open = true;
    if (group.section) {
      const { boxes, edges } = visibleOf(root);
      if (edges.length > 1.7 * boxes.length + 10) { group.open = false; continue; }
    }
    shown += group.children.length - 1;
    closed.push(...group.children.filter(c => c instanceof Group));
  }
}
function foldAll(group) {
  for (const child of group.children) if (child instanceof Group) { child.open = false; foldAll(child); }
}

// What is shown of the scopes: boxes (nodes and folded scopes), frames (open scopes), and edges
// between boxes, one for all tensors from one to the other.
function visibleOf(root) {
  const boxes = [], frames = [], boxOf = new Map();
  const cover = (member, box) => {
    const stack = [member];
    while (stack.length) {
      const m = stack.pop();
      if (m instanceof Group) stack.push(...m.children);
      else boxOf.set(m.node, box);
    }
  };
  const walk = (group, frame) => {
    for (const child of group.children) {
      if (child instanceof Group && child.open) {
        frames.push({ item: child, frame });
        walk(child, child);
      } else {
        const box = { item: child, frame };
        boxes.push(box);
        cover(child, box);
      }
    }
  };
  walk(root, null);
  const edges = new Map();
  for (const [node, to] of boxOf) {
    for (const input of node.from) {
      const from = boxOf.get(input.node);
      if (!from || from === to) continue;
      const key = from.item.key + "\n" + to.item.key;
      let edge = edges.get(key);
      if (!edge) edges.set(key, edge = { from, to, tensors: new Map(), control: true });
      if (input.control) continue;
      edge.control = false;
      edge.tensors.set(input.node.name + ":" + input.port, { type: input.node.types?.[input.port] || "", bytes: input.node.bytes?.[input.port] ?? -1, port: input.port });
    }
  }
  return { boxes, frames, edges: [...edges.values()], boxOf };
}

const measure = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text, font) => { context.font = font; return context.measureText(text).width; };
})();
const kBold = "600 12px system-ui, sans-serif", kPlain = "11px system-ui, sans-serif", kSmall = "10px system-ui, sans-serif";

function edgeLabel(edge) {
  if (edge.control) return "";
  const tensors = [...edge.tensors.values()];
  const bytes = tensors.reduce((sum, t) => t.bytes < 0 || sum < 0 ? -1 : sum + t.bytes, 0);
  const size = bytes >= 1000 ? "  " + showBytes(bytes) : "";
  return tensors.length === 1 ? cut(tensors[0].type, 30) + size : plural(tensors.length, "tensor") + size;
}

// The lines of a box: the op in bold, the name, then constants.
function describeBox(box) {
  if (box.item instanceof Group) {
    const group = box.item;
    box.head = cut(group.label || "/", 40);
    box.lines = [plural(group.count, "node") + (group.us ? ", " + showUs(group.us) : ""),
                 group.constants ? "constants " + showBytes(group.constants) : ""].filter(Boolean);
  } else {
    const node = box.item.node;
    box.head = cut(node.op, 34);
    box.lines = [cutFront(node.local.split("/").at(-1) || node.local, 34)];
    const constants = node.from.filter(i => i.node.inside);
    for (const { node: c } of constants.slice(0, 4)) {
      const value = c.attrs.value?.replace(/^\S+ /, "") ?? "", type = c.types?.[0] || "";
      const small = value && !value.startsWith("#") && value.length <= 14;
      box.lines.push(cut(`${cutFront(c.local.split("/").at(-1), 16)} ${type}${small ? " = " + value : ""}`, 44));
    }
    if (constants.length > 4) box.lines.push(`and ${plural(constants.length - 4, "constant")} more`);
  }
  const lines = box.lines.map((line, i) => measure(line, i === 0 ? kPlain : kSmall));
  box.width = Math.ceil(Math.max(72, measure(box.head, kBold) + (box.item instanceof Group ? 16 : 0), ...lines)) + 20;
  box.height = 25 + box.lines.length * 14 + 5;
}

// Gives each box and frame its x, y (of the centre), width and height, and each edge its points.
function place(visible) {
  visible.boxes.forEach((box, i) => { box.v = "b" + i; describeBox(box); });
  visible.frames.forEach((frame, i) => { frame.v = "f" + i; });
  const frameOf = new Map(visible.frames.map(frame => [frame.item, frame]));
  const nodes = [...visible.frames, ...visible.boxes].map(at => ({
    v: at.v, width: at.width || 0, height: at.height || 0, parent: at.frame ? frameOf.get(at.frame).v : undefined }));
  const edges = visible.edges.map(edge => {
    edge.label = edgeLabel(edge);
    return { v: edge.from.v, w: edge.to.v, minlen: 1, weight: edge.control ? 1 : 2, labeloffset: 8, labelpos: "r",
             width: edge.label ? measure(edge.label, kSmall) : 0, height: edge.label ? 12 : 0 };
  });
  try {
    dagre.layout(nodes, edges, { nodesep: 18, ranksep: 22, ranker: "network-simplex" }, {});
  } catch (error) {
    console.warn("layout failed, boxes stand in rows", error);
    nodes.forEach((n, i) => { n.x = 300 * (i % 8); n.y = 110 * Math.floor(i / 8); });
    edges.forEach(e => { e.points = []; });
  }
  const byV = new Map(nodes.map(n => [n.v, n]));
  for (const at of [...visible.frames, ...visible.boxes]) {
    const { x, y, width, height } = byV.get(at.v);
    Object.assign(at, { x, y, width, height });
  }
  visible.edges.forEach((edge, i) => {
    edge.points = edges[i].points || [];
    edge.at = { x: edges[i].x, y: edges[i].y };
  });
  makeRoomForLabels(visible);
  const xs = [0], ys = [0], all = [...visible.frames, ...visible.boxes];
  if (all.length) { xs.pop(); ys.pop(); }
  for (const at of all) { xs.push(at.x - at.width / 2, at.x + at.width / 2); ys.push(at.y - at.height / 2, at.y + at.height / 2); }
  const least = list => list.reduce((a, b) => Math.min(a, b)), most = list => list.reduce((a, b) => Math.max(a, b));
  visible.bounds = { x: least(xs), y: least(ys), width: most(xs) - least(xs), height: most(ys) - least(ys) };
  return visible;
}

// Moves all that lies below the upper edge of a frame down, so that the frame's label stands above
// what the frame holds.
function makeRoomForLabels({ boxes, frames, edges }) {
  const tops = [];
  for (const top of frames.map(f => f.y - f.height / 2).sort((a, b) => a - b)) {
    if (!tops.length || top > tops.at(-1) + 1) tops.push(top);
  }
  const shift = y => kFrameLabel * tops.filter(top => top < y - 0.5).length;
  const old = new Map(boxes.map(box => [box, shift(box.y - box.height / 2 + 1)]));
  for (const edge of edges) {
    const last = edge.points.length - 1;
    edge.points = edge.points.map((p, i) => ({ x: p.x, y: p.y + (i === 0 ? old.get(edge.from) : i === last ? old.get(edge.to) : shift(p.y)) }));
    if (edge.at.y !== undefined) edge.at.y += shift(edge.at.y);
  }
  for (const [box, by] of old) box.y += by;
  for (const frame of frames) {
    const top = frame.y - frame.height / 2, bottom = frame.y + frame.height / 2, above = shift(top), below = shift(bottom);
    frame.y = (top + above + bottom + below) / 2;
    frame.height = bottom + below - top - above;
  }
}
