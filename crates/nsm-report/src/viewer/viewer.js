// A small viewer of scenes: points with trails, links, bodies, planes, bending lines and outlines.
// Every <figure class="scene"> holds its scenes as JSON: a list of { name, scene }.
"use strict";

(() => {
  const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999933"];
  const TRAIL = 160;

  const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
  const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => scale(a, 1 / (Math.hypot(...a) || 1));
  const mix = (a, b, s) => a + s * (b - a);
  const at = (list, i) => [list[3 * i], list[3 * i + 1], list[3 * i + 2]];

  // Rotation by a quaternion (w, x, y, z).
  const turn = (q, v) => {
    const u = [q[1], q[2], q[3]];
    const w = scale(cross(u, v), 2);
    return add(add(v, scale(w, q[0])), cross(u, w));
  };

  // Where a moment lies among the frames: index of the frame before it and the share of the way to the next.
  const locate = (times, t) => {
    let low = 0, high = times.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= t) low = middle; else high = middle;
    }
    const step = times[high] - times[low];
    return [low, step > 0 ? Math.min(1, Math.max(0, (t - times[low]) / step)) : 0];
  };

  const between = (list, width, [i, s], offset = 0, count = width) =>
    Array.from({ length: count }, (_, k) =>
      mix(list[i * width + offset + k], list[Math.min((i + 1) * width, list.length - width) + offset + k], s));

  const pointAt = (point, moment) => (point.fixed ? at(point.at, 0) : between(point.at, 3, moment));

  const poseAt = (body, moment) => {
    const p = between(body.poses, 7, moment);
    const q = p.slice(3);
    const n = Math.hypot(...q) || 1;
    return [p.slice(0, 3), q.map((x) => x / n)];
  };

  const radius = (body) => {
    let r = 0;
    for (let i = 0; i < body.vertices.length / 3; i++) r = Math.max(r, Math.hypot(...at(body.vertices, i)));
    return r;
  };

  // What moves along is kept in sight: in space, the view follows the middle of the bodies sideways.
  const follow = (scene, moment) => {
    if (!scene.spatial || !scene.bodies.length || scene.still) return [0, 0, 0];
    const sum = scene.bodies.reduce((s, b) => add(s, between(b.poses, 7, moment, 0, 3)), [0, 0, 0]);
    return [sum[0] / scene.bodies.length, sum[1] / scene.bodies.length, 0];
  };

  // The box that holds everything that moves, about what the view follows.
  const bounds = (scene) => {
    let low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const take = (p, r = 0) => {
      for (let k = 0; k < 3; k++) {
        low[k] = Math.min(low[k], p[k] - r);
        high[k] = Math.max(high[k], p[k] + r);
      }
    };
    // What stays within a few of its own sizes is looked at from a place that stands still.
    scene.still = false;
    const size = Math.max(0, ...scene.bodies.map(radius));
    for (let i = 0; scene.bodies.length && i < scene.t.length; i++) take(follow(scene, [i, 0]));
    scene.still = Math.max(high[0] - low[0], high[1] - low[1]) < 6 * size;
    [low, high] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
    for (const p of scene.points)
      for (let i = 0; i < p.at.length / 3; i++) take(at(p.at, i), p.radius || 0);
    // Every corner of every body, at some sixty of the frames.
    const every = Math.ceil(scene.t.length / 60);
    for (const b of scene.bodies)
      for (let i = 0; i < scene.t.length; i += every) {
        const [x, q] = poseAt(b, [i, 0]);
        const centre = sub(x, follow(scene, [i, 0]));
        for (let k = 0; k < b.vertices.length / 3; k++) take(add(centre, turn(q, at(b.vertices, k))));
      }
    for (const l of scene.polylines) for (let i = 0; i < l.at.length / 3; i++) take(at(l.at, i));
    for (const o of scene.outlines) for (let i = 0; i < o.length / 3; i++) take(at(o, i));
    return [low, high];
  };

  class Viewer {
    constructor(figure) {
      this.figure = figure;
      this.scenes = JSON.parse(figure.querySelector("script").textContent);
      this.build();
      this.choose(0);
      new ResizeObserver(() => this.draw()).observe(this.canvas);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
      new IntersectionObserver((entries) => {
        this.visible = entries[0].isIntersecting;
        if (this.visible) this.tick();
      }).observe(this.canvas);
    }

    build() {
      const element = (tag, attributes = {}, text = "") => {
        const e = document.createElement(tag);
        for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
        e.textContent = text;
        return e;
      };
      this.canvas = element("canvas", { tabindex: "0", role: "img", "aria-label": "animation" });
      this.context = this.canvas.getContext("2d");
      const bar = element("div", { class: "controls" });
      this.play = element("button", { type: "button", "aria-label": "play or pause" }, "▶");
      this.scrub = element("input", { type: "range", min: "0", max: "1000", value: "0", "aria-label": "time" });
      this.clock = element("output", {}, "");
      this.speed = element("select", { "aria-label": "speed" });
      for (const s of [0.1, 0.25, 0.5, 1, 2, 4, 8]) this.speed.append(element("option", { value: s }, `${s}×`));
      this.speed.value = "1";
      this.reset = element("button", { type: "button", "aria-label": "reset the view" }, "⟲");
      bar.append(this.play, this.scrub, this.clock, this.speed, this.reset);
      if (this.scenes.length > 1) {
        this.pick = element("select", { "aria-label": "run" });
        this.scenes.forEach((s, i) => this.pick.append(element("option", { value: i }, s.name)));
        this.pick.onchange = () => this.choose(Number(this.pick.value));
        bar.prepend(this.pick);
      }
      this.figure.append(this.canvas, bar);
      this.play.onclick = () => this.toggle();
      this.scrub.oninput = () => {
        this.time = mix(this.start, this.end, this.scrub.value / 1000);
        this.draw();
      };
      this.reset.onclick = () => { this.look(); this.draw(); };
      this.canvas.onkeydown = (e) => {
        if (e.key === " ") { this.toggle(); e.preventDefault(); }
      };
      this.pointers = new Map();
      this.canvas.onpointerdown = (e) => {
        this.pointers.set(e.pointerId, [e.offsetX, e.offsetY]);
        this.canvas.setPointerCapture(e.pointerId);
      };
      this.canvas.onpointerup = this.canvas.onpointercancel = (e) => this.pointers.delete(e.pointerId);
      this.canvas.onpointermove = (e) => this.drag(e);
      this.canvas.addEventListener("wheel", (e) => {
        // A page of many scenes must still scroll: zoom only where the user has turned to this one.
        if (document.activeElement !== this.canvas && !e.ctrlKey) return;
        e.preventDefault();
        this.zoom *= Math.exp(-0.0015 * e.deltaY);
        this.draw();
      }, { passive: false });
    }

    choose(index) {
      this.scene = this.scenes[index].scene;
      const t = this.scene.t;
      const had = this.box;
      [this.start, this.end] = [t[0], t[t.length - 1]];
      this.time = Math.min(this.end, Math.max(this.start, this.time ?? this.start));
      this.box = bounds(this.scene);
      // A film that would be over in a blink or take minutes plays at a pace that can be watched.
      this.pace = Math.min(Math.max((this.end - this.start) / 40, 1), Math.max((this.end - this.start) / 4, 1e-9));
      if (!had) this.look();
      this.draw();
    }

    // The first view: everything in sight, space from a little above.
    look() {
      // Hardly anything fills the corners of its box.
      this.zoom = this.scene.spatial ? 1.25 : 1;
      this.pan = [0, 0];
      this.yaw = -0.6;
      this.pitch = 0.32;
    }

    toggle() {
      this.playing = !this.playing;
      if (this.playing && this.time >= this.end) this.time = this.start;
      this.play.textContent = this.playing ? "❚❚" : "▶";
      this.last = undefined;
      this.tick();
    }

    tick() {
      if (!this.playing || !this.visible || this.queued) return;
      this.queued = true;
      requestAnimationFrame((now) => {
        this.queued = false;
        if (!this.playing) return;
        const passed = this.last === undefined ? 0 : Math.min(0.1, (now - this.last) / 1000);
        this.last = now;
        this.time += passed * this.pace * Number(this.speed.value);
        if (this.time >= this.end) {
          this.time = this.end;
          this.toggle();
        }
        this.draw();
        this.tick();
      });
    }

    drag(e) {
      const before = this.pointers.get(e.pointerId);
      if (!before) return;
      const now = [e.offsetX, e.offsetY];
      const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
      if (this.pointers.size === 2) {
        const other = [...this.pointers].find(([id]) => id !== e.pointerId)[1];
        const gap = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
        this.zoom *= gap(now) / gap(before);
      } else if (this.scene.spatial && !e.shiftKey) {
        this.yaw -= 0.01 * dx;
        this.pitch = Math.min(1.55, Math.max(-1.55, this.pitch + 0.01 * dy));
      } else {
        this.pan = [this.pan[0] + dx, this.pan[1] + dy];
      }
      this.pointers.set(e.pointerId, now);
      this.draw();
    }

    // From the scene to the screen: [x, y, depth, scale].
    projection(width, height) {
      const [low, high] = this.box;
      const centre = add(scale(add(low, high), 0.5), this.followed);
      const size = sub(high, low);
      if (!this.scene.spatial) {
        const unitX = (width - 48) / (size[0] || 1e-9), unitY = (height - 48) / (size[1] || 1e-9);
        // A phase plane has no common unit; a place has.
        const both = Math.min(unitX, unitY);
        const [sx, sy] = this.scene.axes ? [unitX, unitY] : [both, both];
        return {
          scale: both * this.zoom,
          to: (p) => [
            width / 2 + (p[0] - centre[0]) * sx * this.zoom + this.pan[0],
            height / 2 - (p[1] - centre[1]) * sy * this.zoom + this.pan[1],
            0, both * this.zoom],
        };
      }
      const radius = 0.5 * Math.hypot(...size) || 1;
      const distance = 4 * radius;
      const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
      this.eye = add(centre, scale([sy * cp, -cy * cp, sp], distance));
      const focus = 1.75 * Math.min(width, height) * this.zoom;
      return {
        scale: focus / distance,
        to: (p) => {
          const d = sub(p, centre);
          const right = cy * d[0] + sy * d[1];
          const ahead = -sy * d[0] + cy * d[1];
          const up = cp * d[2] + sp * ahead;
          const depth = distance + cp * ahead - sp * d[2];
          const s = focus / Math.max(depth, 0.05 * radius);
          return [width / 2 + right * s + this.pan[0], height / 2 - up * s + this.pan[1], depth, s];
        },
      };
    }

    draw() {
      const { canvas, context: c, scene } = this;
      const ratio = devicePixelRatio || 1;
      const width = canvas.clientWidth, height = canvas.clientHeight;
      if (!width || !height) return;
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      c.setTransform(ratio, 0, 0, ratio, 0, 0);
      c.clearRect(0, 0, width, height);
      const style = getComputedStyle(canvas);
      this.ink = style.getPropertyValue("--ink").trim() || "#222";
      this.dim = style.getPropertyValue("--dim").trim() || "#777";
      this.line = style.getPropertyValue("--line").trim() || "#ccc";
      this.paper = style.getPropertyValue("--paper").trim() || "#fff";
      const moment = locate(scene.t, this.time);
      this.followed = follow(scene, moment);
      const view = this.projection(width, height);
      c.lineJoin = c.lineCap = "round";
      if (scene.axes) this.axes(width, height);
      scene.planes.forEach((plane) => this.plane(plane, view));
      c.strokeStyle = this.dim;
      c.lineWidth = 1.5;
      scene.outlines.forEach((o) => this.stroke(view, o.length / 3, (i) => at(o, i)));
      this.trails(view, moment);
      const places = scene.points.map((p) => pointAt(p, moment));
      for (const link of scene.links) this.link(view, places[link.from], places[link.to], link.kind);
      scene.polylines.forEach((l, k) => {
        c.strokeStyle = COLOURS[(scene.points.length + k) % COLOURS.length];
        c.lineWidth = 3;
        this.stroke(view, l.nodes, (i) => between(l.at, 3 * l.nodes, moment, 3 * i, 3));
      });
      this.bodies(view, moment);
      scene.points.forEach((p, k) => this.point(view, places[k], p, k));
      this.forces(view, scene.forces?.[moment[0] + (moment[1] > 0.5 ? 1 : 0)] || []);
      this.clock.textContent = `t = ${this.time.toPrecision(4)}`;
      this.scrub.value = String(1000 * (this.time - this.start) / (this.end - this.start || 1));
    }

    stroke(view, count, place) {
      const c = this.context;
      c.beginPath();
      for (let i = 0; i < count; i++) {
        const [x, y] = view.to(place(i));
        if (i) c.lineTo(x, y); else c.moveTo(x, y);
      }
      c.stroke();
    }

    axes(width, height) {
      const c = this.context;
      c.fillStyle = this.dim;
      c.font = "12px system-ui, sans-serif";
      c.textAlign = "right";
      c.fillText(this.scene.axes[0], width - 8, height - 8);
      c.textAlign = "left";
      c.fillText(this.scene.axes[1], 8, 16);
    }

    // A plane as a grid under what moves.
    plane({ normal, offset }, view) {
      const c = this.context;
      const [low, high] = this.box;
      const centre = add(scale(add(low, high), 0.5), this.followed);
      const foot = sub(centre, scale(normal, dot(normal, centre) + offset));
      const u = unit(cross(normal, Math.abs(normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]));
      const v = cross(normal, u);
      const span = Math.max(...sub(high, low)) || 1;
      const raw = span / 8;
      const power = 10 ** Math.floor(Math.log10(raw));
      const cell = [1, 2, 5, 10].find((m) => m * power >= raw) * power;
      const n = Math.min(12, Math.ceil(span / cell));
      // Lines at whole multiples of the cell, so that the grid stands still.
      const [fu, fv] = [cell * Math.round(dot(foot, u) / cell), cell * Math.round(dot(foot, v) / cell)];
      const base = sub(sub(foot, scale(u, dot(foot, u))), scale(v, dot(foot, v)));
      const place = (i, j) => add(base, add(scale(u, fu + i * cell), scale(v, fv + j * cell)));
      c.strokeStyle = this.line;
      c.lineWidth = 1;
      for (let i = -n; i <= n; i++) {
        this.stroke(view, 2, (k) => place(i, k ? n : -n));
        this.stroke(view, 2, (k) => place(k ? n : -n, i));
      }
    }

    // The paths behind moving points and bodies, fading.
    trails(view, [frame, share]) {
      const c = this.context;
      const paths = this.scene.points.filter((p) => !p.fixed).map((p) => [p.at, 3, this.scene.points.indexOf(p)])
        .concat(this.scene.bodies.map((b, k) => [b.poses, 7, k]));
      for (const [list, width, k] of paths) {
        const first = Math.max(0, frame - TRAIL);
        c.strokeStyle = COLOURS[k % COLOURS.length];
        c.lineWidth = 1.5;
        let [x, y] = view.to(list.slice(first * width, first * width + 3));
        for (let i = first + 1; i <= frame + 1; i++) {
          const p = i <= frame ? list.slice(i * width, i * width + 3) : between(list, width, [frame, share], 0, 3);
          const [nx, ny] = view.to(p);
          c.globalAlpha = 0.1 + 0.6 * (i - first) / (frame - first + 1);
          c.beginPath();
          c.moveTo(x, y);
          c.lineTo(nx, ny);
          c.stroke();
          [x, y] = [nx, ny];
        }
      }
      c.globalAlpha = 1;
    }

    link(view, a, b, kind) {
      const c = this.context;
      c.strokeStyle = this.dim;
      c.lineWidth = kind === "spring" ? 1.5 : 2.5;
      if (kind !== "spring") {
        this.stroke(view, 2, (i) => (i ? b : a));
        return;
      }
      // A zigzag across the line of sight.
      const [ax, ay] = view.to(a), [bx, by] = view.to(b);
      const length = Math.hypot(bx - ax, by - ay) || 1;
      const [nx, ny] = [-(by - ay) / length * 7, (bx - ax) / length * 7];
      const turns = 10;
      c.beginPath();
      c.moveTo(ax, ay);
      for (let i = 0; i <= turns; i++) {
        const s = 0.12 + 0.76 * i / turns;
        const side = i === 0 || i === turns ? 0 : (i % 2 ? 1 : -1);
        c.lineTo(mix(ax, bx, s) + side * nx, mix(ay, by, s) + side * ny);
      }
      c.lineTo(bx, by);
      c.stroke();
    }

    point(view, place, point, k) {
      const c = this.context;
      const [x, y, , s] = view.to(place);
      c.beginPath();
      if (point.fixed) {
        c.fillStyle = this.dim;
        c.arc(x, y, 3.5, 0, 7);
        c.fill();
        return;
      }
      c.fillStyle = COLOURS[k % COLOURS.length];
      c.arc(x, y, point.radius ? Math.max(3, point.radius * s) : 6, 0, 7);
      if (point.radius) {
        c.globalAlpha = 0.85;
        c.fill();
        c.globalAlpha = 1;
      } else {
        c.fill();
      }
    }

    // Forces of contacts as arrows, in front of everything: they begin inside of bodies.
    forces(view, list) {
      const c = this.context;
      c.strokeStyle = c.fillStyle = this.ink;
      c.lineWidth = 2;
      for (let i = 0; i < list.length / 6; i++) {
        const [ax, ay] = view.to(at(list, 2 * i)), [bx, by] = view.to(at(list, 2 * i + 1));
        const length = Math.hypot(bx - ax, by - ay);
        if (length < 2) continue;
        const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
        const head = Math.min(8, 0.6 * length);
        c.beginPath();
        c.moveTo(ax, ay);
        c.lineTo(bx - head * ux, by - head * uy);
        c.stroke();
        c.beginPath();
        c.moveTo(bx, by);
        c.lineTo(bx - head * ux - 0.4 * head * uy, by - head * uy + 0.4 * head * ux);
        c.lineTo(bx - head * ux + 0.4 * head * uy, by - head * uy - 0.4 * head * ux);
        c.closePath();
        c.fill();
      }
    }

    // Faces from the back to the front, shaded by how they face the light.
    bodies(view, moment) {
      const c = this.context;
      const faces = [];
      this.scene.bodies.forEach((body, k) => {
        const [x, q] = poseAt(body, moment);
        const world = [], screen = [];
        for (let i = 0; i < body.vertices.length / 3; i++) {
          world.push(add(x, turn(q, at(body.vertices, i))));
          screen.push(view.to(world[i]));
        }
        for (const face of body.faces) {
          const normal = this.normal(face, world);
          if (!normal || dot(normal, sub(world[face[0]], this.eye)) > 0) continue;
          const depth = face.reduce((sum, i) => sum + screen[i][2], 0) / face.length;
          faces.push({ depth, normal, k, points: face.map((i) => screen[i]) });
        }
        c.lineWidth = 2;
        (body.edges || []).forEach(([a, b], i) => {
          c.strokeStyle = COLOURS[(k + i) % COLOURS.length];
          this.stroke(view, 2, (j) => world[j ? b : a]);
        });
      });
      faces.sort((a, b) => b.depth - a.depth);
      const light = unit([0.4, -0.5, 0.8]);
      c.lineWidth = 0.6;
      for (const { points, normal, k } of faces) {
        const shade = 0.45 + 0.55 * Math.max(0, dot(normal, light));
        const rgb = [1, 3, 5].map((i) => parseInt(COLOURS[k % COLOURS.length].slice(i, i + 2), 16));
        const lit = rgb.map((v) => Math.round(Math.min(255, v * shade + 40 * shade)));
        c.fillStyle = c.strokeStyle = `rgb(${lit.join(" ")})`;
        c.beginPath();
        points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
        c.closePath();
        c.fill();
        c.stroke();
        if (points.length > 2) {
          c.strokeStyle = "rgb(0 0 0 / 0.25)";
          c.stroke();
        }
      }
    }

    // Newell's normal, which degenerate corners do not disturb.
    normal(face, world) {
      let n = [0, 0, 0];
      for (let i = 0; i < face.length; i++)
        n = add(n, cross(world[face[i]], world[face[(i + 1) % face.length]]));
      return Math.hypot(...n) > 1e-12 ? unit(n) : null;
    }
  }

  // A page may hold many scenes: all but a few are built when they come near the window.
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting || entry.target.viewer) continue;
      near.unobserve(entry.target);
      entry.target.viewer = new Viewer(entry.target);
    }
  }, { rootMargin: "600px" });
  document.querySelectorAll("figure.scene").forEach((figure, i) => {
    if (i < 2 && !figure.closest("details:not([open])")) figure.viewer = new Viewer(figure); else near.observe(figure);
  });
})();
