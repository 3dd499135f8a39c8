/** Shrinks a person's picture for a message: the gateway accepts 512 KiB each and 1 MiB in total. */

const LONGEST_SIDE = 1_024;
const QUALITY = 0.8;

/** @returns a data address (JPEG). @throws when the browser cannot read it */
export async function pictureOf(file: Blob): Promise<string> {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(bitmap.width * scale);
  canvas.height = Math.round(bitmap.height * scale);
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas.toDataURL("image/jpeg", QUALITY);
}
