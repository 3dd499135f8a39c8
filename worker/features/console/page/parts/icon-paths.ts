/** Icons of one hand: 24 units wide, lines of 1.75. */
export const PATHS = {
  alarm: "M12 4l9 16H3zM12 10v4M12 17h.01",
  away: "M3 3l18 18M8.5 14.5a5 5 0 0 1 7 0M5.5 11.5a9 9 0 0 1 4-2.300M18.5 11.5a9 9 0 0 0-4-2.300M12 18h.01",
  battery: "M4 8h13v8H4zM20 11v2M7 11v2",
  bell: "M6 16v-5a6 6 0 0 1 12 0v5l2 2H4zM10 21h4",
  blinds: "M4 4h16M6 4v10h12V4M6 8h12M6 11h12M12 14v4",
  chats: "M4 5h16v11H10l-4 4v-4H4z",
  check: "M5 12.5l4.5 4.5L19 7",
  clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2",
  close: "M6 6l12 12M18 6L6 18",
  devices: "M4 5h11v9H4zM8 18h3M9.5 14v4M17 9h4v10h-4z",
  door: "M7 3h10v18H7zM14 12h.01",
  down: "M6 9l6 6 6-6",
  drop: "M12 3c3 4 6 7 6 11a6 6 0 0 1-12 0c0-4 3-7 6-11z",
  fan: "M12 12c-3-2-4-8 0-8s3 6 0 8zM12 12c2-3 8-4 8 0s-6 3-8 0zM12 12c3 2 4 8 0 8s-3-6 0-8zM12 12c-2 3-8 4-8 0s6-3 8 0z",
  gauge: "M4 16a8 8 0 1 1 16 0M12 16l4-5M12 16h.01",
  globe: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM4 12h16M12 4c3 3 3 13 0 16M12 4c-3 3-3 13 0 16",
  heating: "M12 4a2 2 0 0 0-2 2v8a4 4 0 1 0 4 0V6a2 2 0 0 0-2-2z",
  home: "M4 11l8-7 8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z",
  lamp: "M9 18h6M10 21h4M12 3a6 6 0 0 0-3.6 10.8V15h7.2v-1.200A6 6 0 0 0 12 3z",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  machine: "M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4",
  more: "M5 11.5a.5.5 0 1 0 .01 0M12 11.5a.5.5 0 1 0 .01 0M19 11.5a.5.5 0 1 0 .01 0",
  person: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM5 20c1-4 4-5 7-5s6 1 7 5",
  picture: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9h.1",
  plug: "M9 3v5M15 3v5M6.5 8h11v4a5.5 5.5 0 0 1-11 0zM12 17.5V21",
  plus: "M12 5v14M5 12h14",
  record: "M6 3h9l4 4v14H6zM9 11h7M9 15h7",
  right: "M9 6l6 6-6 6",
  rules: "M13 3L5 13h6l-1 8 8-10h-6z",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4",
  setup: "M4 8h9M17 8h3M4 16h3M11 16h9M15 6v4M9 14v4",
  shield: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6z",
  up: "M12 19V5M6 11l6-6 6 6",
  window: "M5 4h14v16H5zM12 4v16M5 12h14",
} as const;

export type IconName = keyof typeof PATHS;

/** How something is: on, wrong, not reached, waiting for a person, or nothing special. */
export type Tone = "on" | "bad" | "gone" | "wait" | "plain";
