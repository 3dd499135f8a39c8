/** Words for on and off of a binary sensor's class, as Home Assistant has them. */

export const CLASS_WORDS = {
  battery: ["low", "normal"],
  battery_charging: ["charging", "not charging"],
  carbon_monoxide: ["carbon monoxide detected", "clear"],
  cold: ["cold", "normal"],
  connectivity: ["connected", "disconnected"],
  door: ["open", "closed"],
  garage_door: ["open", "closed"],
  gas: ["gas detected", "clear"],
  heat: ["hot", "normal"],
  light: ["light detected", "no light"],
  lock: ["unlocked", "locked"],
  moisture: ["wet", "dry"],
  motion: ["motion detected", "clear"],
  moving: ["moving", "not moving"],
  occupancy: ["occupied", "clear"],
  opening: ["open", "closed"],
  plug: ["plugged in", "unplugged"],
  power: ["power detected", "no power"],
  presence: ["at home", "away"],
  problem: ["problem", "no problem"],
  running: ["running", "not running"],
  safety: ["unsafe", "safe"],
  smoke: ["smoke detected", "clear"],
  sound: ["sound detected", "clear"],
  tamper: ["tampering detected", "clear"],
  update: ["update available", "up to date"],
  vibration: ["vibration detected", "clear"],
  window: ["open", "closed"],
} as const;

export function classWords(deviceClass: string | undefined): readonly [on: string, off: string] {
  const known: Readonly<Record<string, readonly [on: string, off: string]>> = CLASS_WORDS;
  return (
    (deviceClass !== undefined && Object.hasOwn(known, deviceClass) && known[deviceClass]) || ["on", "off"]
  );
}
