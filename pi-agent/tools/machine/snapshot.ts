import { INLINE_MAX_CHARS, MEDIA_MAX_BYTES } from "@edgecall/core/protocol/media.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import {
  type Content,
  defineTool,
  faultResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  Unstorable,
} from "@edgecall/core/tools/contract.ts";
import { ExecError, type ExecOps } from "../../env/environment.ts";
import { NoAnswer, PROBE_MS } from "../../env/probe.ts";
import { formatSize } from "../../output/text-cut.ts";
import { DEVICE_READ } from "../reads.ts";
import {
  type Camera,
  type CameraPlace,
  listCameras,
  pictureArgv,
  type Shot,
  whyNoCamera,
} from "./cameras.ts";
import { LINUX_ONLY, platformMissing } from "./platforms.ts";
import { complaint, type Ended, runProgram } from "./run-program.ts";

const DEFAULT_RESOLUTION = "640x480";
const DEFAULT_QUALITY = 75;
/** The largest camera module has 9152 × 6944 pixels. */
const MAX_SIDE = 9_248;
const MIN_SIDE = 16;
/** Bytes before base64 that fit a message. */
const INLINE_BYTES = (INLINE_MAX_CHARS / 4) * 3;
/** Attempts when a picture does not fit and cannot be stored: first lower quality, then a smaller size. */
const RETAKES = [
  { share: 1, quality: 50 },
  { share: 1, quality: 30 },
  { share: 1 / 2, quality: 50 },
  { share: 1 / 4, quality: 50 },
] as const;

export function snapshot(place: CameraPlace): Tool {
  return defineTool({
    name: "snapshot",
    description: `Take a picture with this device's camera, to see what is in front of it now. JPEG, ${DEFAULT_RESOLUTION} unless resolution says otherwise.`,
    input: z.strictObject({
      resolution: z
        ._default(z.string().check(z.regex(/^\d{2,4}x\d{2,4}$/)), DEFAULT_RESOLUTION)
        .check(z.describe("Width x height in pixels: 640x480, 1920x1080")),
      quality: z
        ._default(z.int().check(z.minimum(1), z.maximum(100)), DEFAULT_QUALITY)
        .check(z.describe("JPEG quality, 1 to 100")),
      camera: z
        .optional(z.string().check(z.regex(/^(\d|\/dev\/video\d{1,2})$/)))
        .check(z.describe("Which camera where there are several: 0, 1 or /dev/video0")),
    }),
    ...DEVICE_READ,
    // Text on paper in front of the camera is a stranger's text.
    taints: true,
    lock: () => "camera",
    prepare: (raw) => (typeof raw.camera === "number" ? { ...raw, camera: `${raw.camera}` } : raw),
    async execute({ resolution, quality, camera: id }, context) {
      const [width = 0, height = 0] = resolution.split("x").map(Number);
      if ([width, height].some((side) => side < MIN_SIDE || side > MAX_SIDE)) {
        return faultResult("invalid_params", {
          text: `Error: resolution ${resolution} is not possible: each side may have ${MIN_SIDE} to ${MAX_SIDE} pixels.`,
          advice: 'Use resolution="640x480".',
        });
      }
      const cameras = await listCameras(place, context.signal);
      const camera = id === undefined ? cameras[0] : cameras.find((candidate) => candidate.id === id);
      if (!camera) return await noCamera(place, id, cameras);
      return await picture(place.exec, camera, { width, height, quality }, context);
    },
  });
}

export async function snapshotMissing(
  place: CameraPlace,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const elsewhere = platformMissing(LINUX_ONLY, platform);
  if (elsewhere) return elsewhere;
  const cameras = await listCameras(place, AbortSignal.timeout(PROBE_MS)).catch((error: unknown) => {
    throw new NoAnswer(`the cameras did not answer: ${error instanceof Error ? error.message : error}`);
  });
  return cameras.length > 0 ? undefined : await whyNoCamera(place);
}

/** Takes the picture as requested if it can be stored; otherwise takes it again so that it fits a message. */
async function picture(
  exec: ExecOps,
  camera: Camera,
  asked: Shot,
  context: ToolContext,
): Promise<ToolResult> {
  let shots: Shot[] = [asked];
  let largest = 0;
  for (let shot = shots.shift(); shot !== undefined; shot = shots.shift()) {
    const taken = await capture(exec, camera, shot, context.signal);
    if ("content" in taken) return taken;
    const content = await storedPicture(taken, context);
    if (content) return result(camera, shot, asked, taken.length, content);
    if (shot === asked) {
      largest = taken.length;
      shots = retakes(asked, largest);
    }
  }
  return faultResult("too_large", {
    text: `Error: The picture (${formatSize(largest)}) does not fit a message, not even at a quarter of its size.`,
    advice: "Use a smaller resolution.",
  });
}

/** Returns the attempts that will probably fit, since each costs a second or more, and always the last one. */
function retakes(asked: Shot, bytes: number): Shot[] {
  return RETAKES.map((retake) => ({ retake, shot: lesser(asked, retake) }))
    .filter(({ retake, shot }, index) => {
      const likely = bytes * retake.share ** 2 * (shot.quality / asked.quality);
      return likely <= INLINE_BYTES || index === RETAKES.length - 1;
    })
    .map(({ shot }) => shot);
}

/** @returns undefined when it neither fits the message nor can be stored */
async function storedPicture(jpeg: Uint8Array, context: ToolContext): Promise<Content | undefined> {
  if (jpeg.length > MEDIA_MAX_BYTES) return undefined;
  try {
    return await context.artifact(jpeg, "image/jpeg");
  } catch (error) {
    if (error instanceof Unstorable) return undefined;
    throw error;
  }
}

async function capture(
  exec: ExecOps,
  camera: Camera,
  shot: Shot,
  signal: AbortSignal,
): Promise<Uint8Array | ToolResult> {
  try {
    const argv = pictureArgv(camera, shot);
    // One byte more than the limit, so that a picture that is too large is recognised.
    const ended = await runProgram(exec, argv, { signal, maxBytes: MEDIA_MAX_BYTES + 1 });
    // fswebcam always exits with 0, so only the output shows whether there is a picture.
    return isJpeg(ended.bytes) ? ended.bytes : cameraFault(camera, ended);
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    return faultResult("unavailable", `Error: ${error.message}`, { cause: error });
  }
}

function isJpeg(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff;
}

function result(camera: Camera, shot: Shot, asked: Shot, bytes: number, content: Content): ToolResult {
  const size = `${shot.width}x${shot.height}`;
  const lowered =
    shot === asked
      ? ""
      : ` It was asked for at ${asked.width}x${asked.height} with quality ${asked.quality}, which does not fit a message here; it was taken again at ${size} with quality ${shot.quality}.`;
  const text = `Picture of camera ${camera.id} (${camera.name}), ${size}, ${formatSize(bytes)}.${lowered}`;
  return {
    content: [{ type: "text", text }, content],
    details: { camera: camera.id, program: camera.program, ...shot, bytes, lowered: shot !== asked },
  };
}

/** Returns even sides, which encoders with chroma subsampling need. */
function lesser(asked: Shot, { share, quality }: (typeof RETAKES)[number]): Shot {
  const side = (pixels: number) => Math.max(MIN_SIDE, Math.round((pixels * share) / 2) * 2);
  return {
    width: share === 1 ? asked.width : side(asked.width),
    height: share === 1 ? asked.height : side(asked.height),
    quality: Math.min(asked.quality, quality),
  };
}

async function noCamera(
  place: CameraPlace,
  id: string | undefined,
  cameras: readonly Camera[],
): Promise<ToolResult> {
  if (cameras.length === 0) {
    return faultResult("unavailable", {
      text: `Error: No picture: ${await whyNoCamera(place)}.`,
      advice: "Tell the user.",
    });
  }
  const listed = cameras.map((camera) => `${camera.id} (${camera.name})`).join(", ");
  return faultResult("not_found", `Error: There is no camera '${id}'. Cameras: ${listed}.`);
}

function cameraFault(camera: Camera, ended: Ended): ToolResult {
  const output = `${ended.stderr}\n${ended.stdout.slice(0, 2_000)}`;
  const name = `camera ${camera.id} (${camera.name})`;
  if (/resource busy|in use by another process|failed to acquire/i.test(output)) {
    return faultResult("unavailable", {
      text: `Error: ${name} is in use by another program.`,
      advice: "Try again later, or tell the user.",
    });
  }
  if (/permission denied/i.test(output)) {
    return faultResult("access_denied", {
      text: `Error: This agent's user may not use ${name}.`,
      advice: "Tell the user to add it to the group video.",
    });
  }
  if (/no cameras available|No such (file|device)/i.test(output)) {
    return faultResult("unavailable", {
      text: `Error: ${name} is not there any more.`,
      advice: "Tell the user to check its cable.",
    });
  }
  return faultResult("io", `Error: ${name} gave no picture: ${complaint(ended)}.`);
}
