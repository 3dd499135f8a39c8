import type { Content } from "@edgecall/core/tools/contract.ts";
import { Unstorable } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import { describe, expect, test } from "vitest";
import { PI_4 } from "../../testing/boards/pi-4.ts";
import { PI_5 } from "../../testing/boards/pi-5.ts";
import { PI_ZERO_2W } from "../../testing/boards/zero-2w.ts";
import { callTool } from "../../testing/call.ts";
import { busyCsi, fakeCsi, fakeFfmpeg, fakeFswebcam } from "../../testing/programs/cameras.ts";
import { failing, programs, type Scripts } from "../../testing/programs/folder.ts";
import { tree } from "../../testing/tree.ts";
import { listCameras, pictureArgv } from "./cameras.ts";
import { snapshot, snapshotMissing } from "./snapshot.ts";

const zero = tree(PI_ZERO_2W);
const four = tree(PI_4);
const five = tree(PI_5);
const at = (root: string, scripts: Scripts) => ({ root, exec: programs(scripts) });

/** With a gateway that stores what does not fit. */
async function callWithGateway(place: ReturnType<typeof at>, args: Record<string, unknown>) {
  const kept: Uint8Array[] = [];
  const { result } = await runTool(new ToolRegistry([snapshot(place)]), {
    callId: "c",
    name: "snapshot",
    args,
    caller: { principal: "test", role: "owner", channel: "test" },
    artifact(bytes, mediaType): Promise<Content> {
      kept.push(bytes);
      return Promise.resolve({ type: "artifact", id: "a1", mediaType, bytes: bytes.length, sha256: "0" });
    },
  });
  return { result, kept };
}

describe.each(["rpicam-still", "libcamera-still"] as const)("%s", (program) => {
  test("a picture within the result, in the seed's form", async () => {
    const { result } = await callTool(snapshot(at(zero, fakeCsi(program))), { resolution: "640x480" });
    const [words, image] = result.content;
    expect(words).toEqual({ type: "text", text: "Picture of camera 0 (imx708), 640x480, 22.5KB." });
    expect(image).toMatchObject({ type: "image", mediaType: "image/jpeg" });
    const data = image?.type === "image" ? Buffer.from(image.data, "base64") : Buffer.alloc(0);
    expect([...data.subarray(0, 3)]).toEqual([0xff, 0xd8, 0xff]);
    expect(data.length).toBe(23_044);
    expect(result.details).toMatchObject({ program, width: 640, height: 480, quality: 75, lowered: false });
  });

  test("a picture that does not fit a message goes to the gateway whole", async () => {
    const place = at(zero, fakeCsi(program));
    const { result, kept } = await callWithGateway(place, { resolution: "1920x1080", quality: 90 });
    expect(result.content[1]).toMatchObject({ type: "artifact", mediaType: "image/jpeg", bytes: 186_628 });
    expect(kept.map(({ length }) => length)).toEqual([186_628]);
    expect(result.details).toMatchObject({ lowered: false });
  });

  test("without a gateway it is taken again at lower quality, and the result says so", async () => {
    const { result, text } = await callTool(snapshot(at(zero, fakeCsi(program, { perPixel: 280 }))));
    expect(text).toContain(
      "It was asked for at 640x480 with quality 75, which does not fit a message here; it was taken again at 640x480 with quality 50.",
    );
    expect(result.content[1]).toMatchObject({ type: "image" });
    expect(result.details).toMatchObject({ width: 640, quality: 50, lowered: true });
  });

  test("then at a smaller size", async () => {
    const { result } = await callTool(snapshot(at(zero, fakeCsi(program))), { resolution: "1920x1080" });
    expect(result.details).toMatchObject({ width: 960, height: 540, quality: 50 });
    expect(result.content[1]).toMatchObject({ type: "image" });
  });

  test("a picture that fits nowhere is refused in words, not dropped", async () => {
    const { text, code } = await callTool(snapshot(at(zero, fakeCsi(program, { perPixel: 9_000 }))));
    expect(code).toBe("too_large");
    expect(text).toContain("does not fit a message, not even at a quarter of its size");
  });

  test("a camera in use by another program", async () => {
    const { text, code } = await callTool(snapshot(at(zero, busyCsi(program))));
    expect(code).toBe("unavailable");
    expect(text).toContain("camera 0 (imx708) is in use by another program.");
  });
});

describe("webcams", () => {
  test("one camera, although it has two nodes and the board also has codecs", async () => {
    const cameras = await listCameras(at(four, fakeFfmpeg()), AbortSignal.timeout(5_000));
    expect(cameras).toEqual([
      { id: "/dev/video0", name: "UVC Camera (046d:0825)", kind: "usb", program: "ffmpeg" },
    ]);
    expect(await listCameras(at(five, fakeFfmpeg()), AbortSignal.timeout(5_000))).toEqual([]);
  });

  test("by ffmpeg", async () => {
    const { result, text } = await callTool(snapshot(at(four, fakeFfmpeg())), { quality: 100 });
    expect(text).toMatch(/^Picture of camera \/dev\/video0 \(UVC Camera \(046d:0825\)\), 640x480, 30\.0KB\./);
    expect(result.content[1]).toMatchObject({ type: "image" });
  });

  test("by fswebcam, which exits with 0 after a failure", async () => {
    const taken = await callTool(snapshot(at(four, fakeFswebcam())));
    expect(taken.result.content[1]).toMatchObject({ type: "image" });
    const failed = await callTool(snapshot(at(four, fakeFswebcam("Error opening device: /dev/video0"))));
    expect(failed.code).toBe("io");
    expect(failed.text).toBe(
      "Error: camera /dev/video0 (UVC Camera (046d:0825)) gave no picture: Error opening device: /dev/video0.",
    );
  });

  test("without permission, and unplugged meanwhile", async () => {
    const broken = (words: string) => ({ "v4l2-ctl": `[ "$1" = --version ] && exit 0\n${failing(words)}` });
    const denied = await callTool(
      snapshot(at(four, broken("Cannot open device /dev/video0: Permission denied"))),
    );
    expect(denied.code).toBe("access_denied");
    expect(denied.text).toContain("add it to the group video");
    const gone = await callTool(
      snapshot(at(four, broken("Cannot open device /dev/video0, exiting.\nNo such device"))),
    );
    expect(gone.code).toBe("unavailable");
  });

  test("two kinds at once: the caller names one, and only an existing one", async () => {
    const place = at(four, { ...fakeCsi("rpicam-still"), ...fakeFfmpeg() });
    expect((await callTool(snapshot(place))).text).toContain("Picture of camera 0 (imx708)");
    expect((await callTool(snapshot(place), { camera: "/dev/video0" })).text).toContain("camera /dev/video0");
    expect((await callTool(snapshot(place), { camera: 0 })).text).toContain("camera 0");
    const wrong = await callTool(snapshot(place), { camera: "7" });
    expect(wrong.code).toBe("not_found");
    expect(wrong.text).toContain("Cameras: 0 (imx708), /dev/video0 (UVC Camera (046d:0825)).");
  });
});

test("arguments are checked", async () => {
  const place = at(zero, fakeCsi("rpicam-still"));
  for (const args of [
    { resolution: "big" },
    { resolution: "640x480; rm -rf /" },
    { resolution: "9999x10" },
    { quality: 0 },
    { camera: "--output=/etc/passwd" },
    { camera: "/dev/mem" },
    { output_path: "/tmp/x" },
  ]) {
    expect((await callTool(snapshot(place), args)).code, JSON.stringify(args)).toBe("invalid_params");
  }
});

test("missing programs are reported in words", async () => {
  const missing = (root: string, scripts: Scripts) => snapshotMissing(at(root, scripts), "linux");
  expect(await missing(zero, fakeCsi("rpicam-still"))).toBeUndefined();
  expect(await missing(four, fakeFfmpeg())).toBeUndefined();
  expect(await missing(zero, {})).toBe(
    "no camera program: install rpicam-apps (camera module) or ffmpeg (USB camera)",
  );
  expect(await missing(zero, fakeCsi("libcamera-still", { cameras: [] }))).toBe(
    "no camera: 'libcamera-still --list-cameras' finds none, and there is no USB camera",
  );
  expect(await missing(four, {})).toBe(
    "a USB camera (UVC Camera (046d:0825)) but no program for it: install ffmpeg or fswebcam",
  );
  expect(await missing(zero, fakeFfmpeg())).toBe(
    "no USB camera (/dev/video*); for a camera module install rpicam-apps",
  );
  expect(await snapshotMissing(at(zero, {}), "win32")).toBe("it is made for linux, and this is win32");
});

test("a gateway error that is not about the size ends the call with its own text", async () => {
  const { result } = await runTool(new ToolRegistry([snapshot(at(zero, fakeCsi("rpicam-still")))]), {
    callId: "c",
    name: "snapshot",
    args: {},
    caller: { principal: "test", role: "owner", channel: "test" },
    artifact: () => Promise.reject(new Unstorable("Error: nobody takes it")),
  });
  expect(result.fault?.code).toBe("too_large");
});

test("command lines", () => {
  const shot = { width: 640, height: 480, quality: 75 };
  expect(pictureArgv({ id: "1", name: "x", kind: "csi", program: "rpicam-still" }, shot).join(" ")).toBe(
    "rpicam-still --nopreview --camera 1 --timeout 500 --width 640 --height 480 --encoding jpg --quality 75 --thumb none --output -",
  );
  expect(pictureArgv({ id: "/dev/video0", name: "x", kind: "usb", program: "ffmpeg" }, shot).join(" ")).toBe(
    "ffmpeg -nostdin -loglevel error -f v4l2 -video_size 640x480 -i /dev/video0 -vf select=gte(n\\,5) -frames:v 1 -q:v 9 -f mjpeg pipe:1",
  );
  expect(pictureArgv({ id: "/dev/video0", name: "x", kind: "usb", program: "v4l2-ctl" }, shot)).toContain(
    "--set-fmt-video=width=640,height=480,pixelformat=MJPG",
  );
});
