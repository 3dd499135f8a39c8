/** The tools of a device by topic, each with what it needs beside the agent. Everything else of docs/reference/tools.md is in their contracts. */

const GPIO = "gpiod, the group `gpio`";
const RIPGREP = "ripgrep, the sandbox";
const GIT = "bubblewrap, git";

/** The needs of each tool; empty: none. */
export const TOOL_TOPICS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "The machine": {
    temperature: "Linux",
    cpu: "Linux",
    memory: "Linux",
    disk: "Linux",
    system_info: "Linux",
    network_info: "Linux",
    list_processes: "Linux",
    ping: "the program `ping`",
    services: "systemd",
    journal: "journald, the group `systemd-journal`",
    gpio_list: GPIO,
    gpio_read: GPIO,
    gpio_write: GPIO,
    i2c_detect: "i2c-tools, the group `i2c`",
    snapshot: "a camera, the group `video`; rpicam-apps, ffmpeg or fswebcam",
    update_self: "an agent that runs as a service and was paired by a code",
  },
  Files: {
    read: "",
    ls: "",
    glob: RIPGREP,
    find: RIPGREP,
    grep: RIPGREP,
    write: "",
    append: "",
    edit: "",
    apply_patch: "",
  },
  Programs: {
    bash: "bubblewrap",
    git_status: GIT,
    git_diff: GIT,
    git_log: GIT,
    git_branch: GIT,
    git_commit: GIT,
    jobs: "",
    nodes: "an ssh client",
  },
  "The web": {
    webfetch: "`[tools.web] enabled`",
    websearch: "`[tools.web] enabled`, a key of Brave's search",
    codesearch: "`[tools.web] enabled`",
    browser: "Chromium, bubblewrap, `playwright-core`",
  },
  "Pictures and pages": {
    canvas: "",
    image: "a model that sees; `url` also where the web is on",
  },
  "The person and the work": {
    question: "",
    todowrite: "",
    todoread: "",
    task: "a model on the device",
    skill: "a `SKILL.md`",
  },
};
