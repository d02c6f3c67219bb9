// The viewer: builds the scene from the JSON in the page, then draws a picture whenever
// something has changed (and only then, so that a still page costs no work).

import { Group, OrbitControls, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from "three";
import { fit, horizon, viewDirection } from "mechid/camera";
import { jointIcon } from "mechid/joints";
import { Labels } from "mechid/labels";
import { addLegend, swatch } from "mechid/legend";
import { Motion } from "mechid/motion";
import { buildParts, elementName, extentOf } from "mechid/parts";
import { Player } from "mechid/player";
import { followPointer, Highlight, projected } from "mechid/pointer";
import { vector } from "mechid/solids";
import { addLights, buildFloor, roundStep, Triad } from "mechid/stage";
import { Strips } from "mechid/strips";

const find = (id) => document.getElementById(id);
// A page without a scene is a frame of another page, which gives it one.
const embedded = JSON.parse(find("scene").textContent);
const data = embedded ?? window.frameElement.scene;
document.body.classList.toggle("framed", embedded === null);
const canvas = find("canvas");
// Radii and lengths of rods and joints are given in this unit.
const unit = 0.02 * data.size;

if (canvas.getContext("webgl2")) {
  start();
} else {
  window.mechid = { ready: false };
  window.showMessage(
    "This picture needs WebGL 2, which this browser does not offer or has switched off.",
  );
}

function start() {
  const motion = new Motion(data.motion);
  const axes = horizon(vector(data.up).normalize());
  const world = new Scene();
  const frames = data.bodies.map(() => new Group());
  world.add(...frames);
  motion.apply(motion.start, frames);
  const parts = buildParts(data, { world, frames, motion, unit, up: axes.up });

  const extent = extentOf(data, motion, axes, unit);
  const step = roundStep(extent.radius / 3);
  addLights(world, axes, extent.center, extent.radius);
  world.add(buildFloor(axes, extent.center, extent.lowest - 0.1 * unit, extent.radius, step));
  find("grid-step").textContent =
    step < 1 ? `grid ${Number((1e3 * step).toPrecision(2))} mm` : `grid ${step} m`;

  const renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
  renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
  renderer.shadowMap.enabled = true;
  const camera = new PerspectiveCamera(18, 1, 0.05 * extent.radius, 200 * extent.radius);
  camera.up.copy(axes.up);
  const controls = new OrbitControls(camera, canvas);
  controls.enableDamping = true;
  controls.dampingFactor = 0.12;
  controls.zoomToCursor = true;

  let dirty = true;
  const redraw = () => {
    dirty = true;
  };
  controls.addEventListener("change", redraw);
  // Until the reader turns it, the mechanism stays fitted into a view that changes its size.
  let turned = false;
  controls.addEventListener("start", () => (turned = true));

  const player = new Player(motion, find("transport"), redraw);
  const strips = new Strips(find("strips"), data.motion.coordinates, motion, (t) => player.seek(t));
  document.body.classList.toggle("still", !motion.moves);
  document.body.classList.toggle("bare", data.motion.coordinates.length === 0);
  const triad = new Triad(find("triad"));
  const button = document.querySelector("button[name=points]");
  const labels = new Labels(find("points"), button, data, frames, redraw);
  const highlight = new Highlight(redraw);
  addLegends(parts, { light: (items) => highlight.set(items), redraw });
  followPointer({
    canvas,
    tooltip: find("tooltip"),
    camera,
    items: parts.items,
    highlight,
    data,
    frames,
    unit,
  });

  // In a page of another page there may be no room yet; the camera is placed when there is.
  let placed = false;
  const draw = () => {
    if (!placed) return;
    dirty = false;
    motion.apply(player.time, frames);
    for (const item of parts.items) item.update?.();
    strips.update(player.time);
    triad.update(camera);
    renderer.render(world, camera);
    labels.update(camera, canvas);
  };

  const show = (view) => {
    const here = camera.position.clone().sub(controls.target).normalize();
    const direction = view === "fit" ? here : viewDirection(view, axes);
    const titleShare = Math.min(find("title").offsetHeight / canvas.clientHeight, 0.25);
    fit(camera, controls, extent.points, direction, titleShare);
    redraw();
  };
  for (const button of document.querySelectorAll("[data-view]")) {
    button.addEventListener("click", () => show(button.dataset.view));
  }

  const resize = () => {
    const { clientWidth, clientHeight } = canvas.parentElement;
    if (!clientWidth || !clientHeight) return;
    renderer.setSize(clientWidth, clientHeight, false);
    camera.aspect = clientWidth / Math.max(clientHeight, 1);
    camera.updateProjectionMatrix();
    if (!placed || !turned) show(placed ? "fit" : "iso");
    placed = true;
    draw();
  };
  new ResizeObserver(resize).observe(canvas.parentElement);
  canvas.addEventListener("webglcontextlost", () => {
    window.showMessage("The graphics were interrupted; load the page again.");
  });

  resize();
  let last = performance.now();
  renderer.setAnimationLoop((now) => {
    // A page that was in the background must not jump ahead by the time it was hidden.
    player.advance(Math.min(Math.max(now - last, 0) / 1000, 0.1));
    last = now;
    if (!placed) return;
    controls.update();
    if (dirty) draw();
  });
  if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();

  // For scripts and tests.
  window.mechid = {
    ready: true,
    frame: () => motion.index(player.time),
    time: () => player.time,
    play: () => player.play(),
    pause: () => player.pause(),
    seek(t) {
      player.seek(t);
      draw();
    },
    /** Put the bodies of a still picture elsewhere: [px, py, pz, qw, qx, qy, qz] of each. */
    pose(poses) {
      motion.poses = motion.poses.map(() => poses);
      draw();
    },
    /** Where the camera is, and put it there again, in another picture of the same place. */
    view: () => [camera.position.toArray(), controls.target.toArray()],
    look([position, target]) {
      turned = true;
      camera.position.fromArray(position);
      controls.target.fromArray(target);
      controls.update();
      redraw();
    },
    bodyPosition(name) {
      const frame = frames[data.bodies.findIndex((body) => body.name === name)];
      return new Vector3().setFromMatrixPosition(frame.matrixWorld).toArray();
    },
    project: (point) => projected(point, camera, canvas),
  };
}

function addLegends(parts, actions) {
  const single = (item, mark) => ({ label: item.name, detail: "", mark, items: [item] });
  const byKind = (list, label, mark) =>
    [...new Set(list.map((item) => item.kind))].map((kind) => {
      const items = list.filter((item) => item.kind === kind);
      return { label: label(kind), detail: String(items.length), mark: mark(items[0]), items };
    });
  const thin = ({ color }) => swatch(color, "swatch thin");
  const lists = {
    Bodies: parts.bodies.map((item) => single(item, swatch(item.color))),
    Joints: byKind(
      parts.joints,
      (kind) => kind,
      ({ icon }) => jointIcon(icon),
    ),
    Elements: byKind(parts.elements, elementName, thin),
    Paths: parts.paths.map((item) => single(item, thin(item))),
  };
  for (const [title, entries] of Object.entries(lists))
    addLegend(find("legend"), title, entries, actions);
}
