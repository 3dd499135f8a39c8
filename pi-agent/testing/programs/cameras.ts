/** Camera programs without a camera: "pictures" of a size that follows from resolution and quality. */
import { failing, type Scripts } from "./folder.ts";

/** JPEG's first bytes, then as many more as a scene of this detail would have. `perPixel` is in thousandths. */
const PICTURE = `
picture() { # WIDTH HEIGHT QUALITY
  printf '\\377\\330\\377\\340'
  head -c $(( $1 * $2 * $3 * PER_PIXEL / 100000 )) /dev/zero
}
`;

/** @param cameras what --list-cameras shows; @param perPixel bytes for 1000 pixels at quality 100 */
export function fakeCsi(
  program: "rpicam-still" | "libcamera-still",
  { cameras = ["imx708"], perPixel = 100 }: { cameras?: readonly string[]; perPixel?: number } = {},
): Scripts {
  const listed = cameras.map(
    (name, index) => `${index} : ${name} [4608x2592 10-bit RGGB] (/base/soc/i2c0mux/i2c@1/${name}@1a)`,
  );
  const list =
    cameras.length === 0
      ? "echo 'No cameras available!'"
      : `cat <<'END'\nAvailable cameras\n-----------------\n${listed.join("\n")}\n    Modes: 'SRGGB10_CSI2P' : 1536x864 [120.13 fps - (768, 432)/3072x1728 crop]\nEND`;
  return {
    [program]: `PER_PIXEL=${perPixel}
${PICTURE}
case "$1" in --version) echo "rpicam-apps build: v1.9.0"; exit 0;; --list-cameras) ${list}
exit 0;; esac
w=; h=; q=93; out=; camera=0
while [ $# -gt 0 ]; do case "$1" in
  --nopreview) shift;; --width) w=$2; shift 2;; --height) h=$2; shift 2;; --quality) q=$2; shift 2;;
  --camera) camera=$2; shift 2;; --output) out=$2; shift 2;;
  --timeout|--encoding|--thumb) shift 2;;
  *) echo "ERROR: *** unrecognised option '$1' ***" >&2; exit 255;;
esac; done
[ "$camera" -lt ${cameras.length} ] || { echo "ERROR: *** no cameras available ***" >&2; exit 255; }
[ "$out" = - ] || { echo "ERROR: *** no output ***" >&2; exit 255; }
echo "Still capture image received" >&2
picture "$w" "$h" "$q"
`,
  };
}

/** The first complaint of libcamera when somebody else has the camera, and the last. */
export function busyCsi(program: "rpicam-still" | "libcamera-still"): Scripts {
  const free = fakeCsi(program)[program] ?? "";
  const refusal = failing(
    "[0:19:06.41] [2746]  INFO Camera camera.cpp:839 Pipeline handler in use by another process\nERROR: *** failed to acquire camera /base/soc/i2c0mux/i2c@1/imx708@1a ***",
    255,
  );
  return { [program]: free.replace("w=; h=;", `${refusal}\nw=; h=;`) };
}

export function fakeFfmpeg({ perPixel = 100 } = {}): Scripts {
  return {
    ffmpeg: `PER_PIXEL=${perPixel}
${PICTURE}
[ "$1" = -version ] && { echo "ffmpeg version 5.1.6"; exit 0; }
size=; scale=2; device=
while [ $# -gt 0 ]; do case "$1" in
  -nostdin) shift;; -video_size) size=$2; shift 2;; -i) device=$2; shift 2;; -q:v) scale=$2; shift 2;;
  -loglevel|-f|-vf|-frames:v) shift 2;; pipe:1) shift;;
  *) echo "Unrecognized option '$1'." >&2; exit 1;;
esac; done
[ "$device" = /dev/video0 ] || { echo "[video4linux2,v4l2 @ 0x55] Cannot open video device $device: No such file or directory" >&2; exit 1; }
picture "\${size%x*}" "\${size#*x}" $(( 100 - (scale - 2) * 99 / 29 ))
`,
  };
}

/** Ends with 0 whatever happens (seen with 20140113). @param complaint instead of a picture */
export function fakeFswebcam(complaint?: string): Scripts {
  return {
    fswebcam: `PER_PIXEL=100
${PICTURE}
[ "$1" = --version ] && { echo "fswebcam 20140113"; exit 255; }
${complaint === undefined ? "picture 640 480 75" : `printf '\\033[31m${complaint}\\n\\033[0m' >&2`}
exit 0
`,
  };
}
