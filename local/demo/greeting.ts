/** What `npm start -- --demo` says when it is ready: what is there, and sentences to try. */
import { DEVICES, ROOMS } from "./house.ts";

/** @param demo as it was asked for */
export function demoText({ seed, speed }: { seed: number; speed: number }): string {
  const rooms = ROOMS.map(({ name }) => {
    const devices = DEVICES.filter((device) => device.room === name).map((device) => device.name);
    return `  ${name.padEnd(12)} ${devices.join(", ")}`;
  });
  return `This is a demo: a simulated house with ${DEVICES.length} devices in ${ROOMS.length} rooms, on the broker above (seed ${seed}, speed ${speed}).
Its state folder is its own; nothing of your home is read or changed.

${rooms.join("\n")}

Try, in the console or with the command above:

  Turn on the reading lamp                                done when the lamp itself says so
  Unlock the front door                                   asks you first
  Tell me when the freezer is above -15                   it is left ajar now and then
  When the leak sensor is wet, close the water valve      asks you once; it leaks after 15 minutes

The bedroom light never answers, and the office plug takes its "on" back: see what you are told.
`;
}
