/** Lists a device's cameras and makes the commands that take a picture: libcamera for the CSI socket, V4L2 for USB. */
import type { ExecOps } from "../../env/environment.ts";
import { listKernel, readKernel, readKernelNumber } from "./kernel-files.ts";
import { programThere, runProgram } from "./run-program.ts";

/** The newer name first: bookworm renamed libcamera-still to rpicam-still and has both. */
const CSI_PROGRAMS = ["rpicam-still", "libcamera-still"] as const;
/** Best first: quality and size; the same with a dark first frame; only size. */
const USB_PROGRAMS = ["ffmpeg", "fswebcam", "v4l2-ctl"] as const;
const VIDEO = "/sys/class/video4linux";
/** Other video devices of a Pi: codecs, the image processor, and the raw end of the CSI socket. */
const NO_WEBCAM = /^(bcm2835-|rpi-|rpivid|rp1-|pispbe|unicam|hantro|cedrus)/;
/** Time for exposure and white balance to settle. */
const SETTLE_MS = 500;
const SETTLE_FRAMES = 5;

type CsiProgram = (typeof CSI_PROGRAMS)[number];
type UsbProgram = (typeof USB_PROGRAMS)[number];
/** `id` is the caller's name for it: `0` at the CSI socket, `/dev/video0` on USB. */
export type Camera =
  | { id: string; name: string; kind: "csi"; program: CsiProgram }
  | { id: string; name: string; kind: "usb"; program: UsbProgram };

export type Shot = { width: number; height: number; quality: number };

export type CameraPlace = { exec: ExecOps; root: string };

/** Lists the cameras, CSI cameras first. */
export async function listCameras(place: CameraPlace, signal: AbortSignal): Promise<Camera[]> {
  return [...(await csiCameras(place.exec, signal)), ...(await usbCameras(place))];
}

/** Returns a text that says why there is no camera. */
export async function whyNoCamera({ exec, root }: CameraPlace): Promise<string> {
  const csi = await firstProgram(exec, CSI_PROGRAMS);
  const usb = await firstProgram(exec, USB_PROGRAMS);
  const webcams = await webcamNodes(root);
  if (webcams.length > 0 && !usb) {
    return `a USB camera (${webcams[0]?.name}) but no program for it: install ffmpeg or fswebcam`;
  }
  if (!csi && !usb) return "no camera program: install rpicam-apps (camera module) or ffmpeg (USB camera)";
  return csi
    ? `no camera: '${csi} --list-cameras' finds none, and there is no USB camera`
    : "no USB camera (/dev/video*); for a camera module install rpicam-apps";
}

export function pictureArgv(camera: Camera, { width, height, quality }: Shot): [string, ...string[]] {
  const size = `${width}x${height}`;
  switch (camera.program) {
    case "rpicam-still":
    case "libcamera-still":
      return [
        camera.program,
        ...["--nopreview", "--camera", camera.id, "--timeout", `${SETTLE_MS}`],
        ...["--width", `${width}`, "--height", `${height}`],
        // Without a thumbnail inside the picture, which nobody sees.
        ...["--encoding", "jpg", "--quality", `${quality}`, "--thumb", "none", "--output", "-"],
      ];
    case "ffmpeg":
      return [
        "ffmpeg",
        ...["-nostdin", "-loglevel", "error", "-f", "v4l2", "-video_size", size, "-i", camera.id],
        ...["-vf", `select=gte(n\\,${SETTLE_FRAMES})`, "-frames:v", "1"],
        ...["-q:v", `${ffmpegScale(quality)}`, "-f", "mjpeg", "pipe:1"],
      ];
    case "fswebcam":
      return [
        "fswebcam",
        ...["--quiet", "--no-banner", "--device", camera.id, "--resolution", size],
        ...["--skip", `${SETTLE_FRAMES}`, "--jpeg", `${quality}`, "-"],
      ];
    case "v4l2-ctl":
      return [
        "v4l2-ctl",
        ...["--device", camera.id, `--set-fmt-video=width=${width},height=${height},pixelformat=MJPG`],
        ...["--stream-mmap", `--stream-skip=${SETTLE_FRAMES}`, "--stream-count=1", "--stream-to=-"],
      ];
  }
}

/** `0 : imx219 [3280x2464 10-bit RGGB] (/base/soc/i2c0mux/i2c@1/imx219@10)` */
function parseCameraList(text: string): Array<{ id: string; name: string }> {
  return [...text.matchAll(/^(\d+) : (\S+) \[/gm)].map(([, id, name]) => ({
    id: id ?? "",
    name: name ?? "",
  }));
}

async function csiCameras(exec: ExecOps, signal: AbortSignal): Promise<Camera[]> {
  const program = await firstProgram(exec, CSI_PROGRAMS);
  if (!program) return [];
  const { stdout, stderr } = await runProgram(exec, [program, "--list-cameras"], { signal });
  // Depending on the version, the list is on stdout or stderr.
  return parseCameraList(`${stdout}\n${stderr}`).map((camera) => ({ ...camera, kind: "csi", program }));
}

async function usbCameras({ exec, root }: CameraPlace): Promise<Camera[]> {
  const nodes = await webcamNodes(root);
  if (nodes.length === 0) return [];
  const program = await firstProgram(exec, USB_PROGRAMS);
  return program ? nodes.map((node) => ({ ...node, kind: "usb", program })) : [];
}

/** A webcam has two nodes; the second one has only metadata. */
async function webcamNodes(root: string): Promise<Array<{ id: string; name: string }>> {
  const nodes = await Promise.all(
    (await listKernel(root, VIDEO, /^video\d+$/)).map(async (node) => {
      const name = (await readKernel(root, `${VIDEO}/${node}/name`)) ?? "";
      const index = (await readKernelNumber(root, `${VIDEO}/${node}/index`)) ?? 0;
      return index > 0 || NO_WEBCAM.test(name) ? [] : [{ id: `/dev/${node}`, name: name || node }];
    }),
  );
  return nodes.flat();
}

async function firstProgram<Name extends string>(
  exec: ExecOps,
  names: readonly Name[],
): Promise<Name | undefined> {
  for (const name of names) {
    if (await programThere(exec, [name, name === "ffmpeg" ? "-version" : "--version"])) return name;
  }
  return undefined;
}

/** ffmpeg counts from 2 (best) to 31. */
function ffmpegScale(quality: number): number {
  return Math.round(2 + ((100 - quality) * 29) / 99);
}
