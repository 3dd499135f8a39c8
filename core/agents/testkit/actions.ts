/** Actions of the devices in the test's homes, by make: names and descriptions as such devices advertise them. */

export type FixtureAction = { name: string; description: string };

const PI_TOOLS: ReadonlyArray<readonly [string, string]> = [
  [
    "temperature",
    "Read this device's temperature sensors: how warm or hot the CPU, the board, its chips and connected sensors (1-wire, I2C) are right now, in degrees Celsius (°C).",
  ],
  [
    "cpu",
    "Read this device's CPU (processor) usage right now: how busy it is in percent, its load average over 1, 5 and 15 minutes, number of cores and clock speed in MHz.",
  ],
  [
    "memory",
    "Read this device's memory (RAM) and swap: how much is used, how much is free or available, and the total.",
  ],
  [
    "disk",
    "Read this device's disk usage: how full the SD card, SSD or storage is in percent, used space and free space left, for each file system or the one that holds a path.",
  ],
  [
    "network_info",
    "Read this device's network: interfaces and their IP addresses, whether the link is up, Wi-Fi (wireless) signal strength, bytes received and sent since the start.",
  ],
  [
    "system_info",
    "Describe this device: hardware model, operating system version, kernel, hostname, uptime (how long it has been running since the last reboot), power and throttling problems.",
  ],
  [
    "list_processes",
    "List the running processes (programs) of this device: the busiest ones, using the most CPU or the most memory first. 10 of them, at most 50.",
  ],
  [
    "services",
    "Show this device's system services (systemd units): which failed and which run; or, with names, the state of each: active, failed, since when, restarts, memory. At most 20 names.",
  ],
  [
    "journal",
    "Read this device's system log (journald): the newest entries, of one service or of all. 50 entries, at most 500; lines above 500 characters are cut.",
  ],
  [
    "ping",
    "Ping a host from this device: whether a machine on the network (router, NAS, printer, a website) answers and how long the round trip takes. 3 times, at most 10.",
  ],
  [
    "gpio_list",
    "List this device's GPIO pins: their names, whether each is an input or an output, and which are in use by what. At most 100 lines.",
  ],
  [
    "gpio_read",
    "Read a GPIO pin of this device: whether it is high (1) or low (0), and whether it is an input or an output. Pins are GPIO numbers (17 for GPIO17), not positions on the header.",
  ],
  [
    "gpio_write",
    "Set a GPIO pin of this device high (1) or low (0), to switch what is wired to it: a relay, an LED, a pump. The pin becomes an output and is held until it is written again.",
  ],
  [
    "i2c_detect",
    "Scan an I2C bus of this device for connected chips (sensors, displays, ADCs): which addresses answer. Bus 1 is the one on a Raspberry Pi's header.",
  ],
  [
    "snapshot",
    "Take a picture with this device's camera, to see what is in front of it now. JPEG, 1280x720 unless resolution says otherwise.",
  ],
  [
    "read",
    "Read a file of this device: from its workspace folder, or /proc or /sys. Text: at most 2000 lines or 50 KB at once; use offset to continue. Images (jpeg, png, gif, webp) too.",
  ],
  [
    "write",
    "Write a text file in this device's workspace folder: makes it and its parent folders, or replaces all of it. For a change of a part use edit.",
  ],
  [
    "edit",
    "Replace text in a file of this device's workspace folder (up to 1 MB). old_string has to be in it exactly once, or set replace_all.",
  ],
  [
    "append",
    "Append text to the end of a file in this device's workspace folder (notes, lists, logs up to 10 MB); makes it when it is not there.",
  ],
  [
    "ls",
    "List a folder of this device's workspace, hidden files too: folders end in /, links in @. At most 500 entries (limit).",
  ],
  [
    "find",
    "Find files by name in this device's workspace folder: *.log in any folder, src/**/*.ts by path. Sorted by path.",
  ],
  [
    "grep",
    "Search the text of files in this device's workspace folder with a regular expression (Rust's syntax). Gives path:line: text.",
  ],
  [
    "bash",
    "Run a shell command on this device. Returns stdout and stderr as they came. It has no input but keys, and nothing it starts outlives it.",
  ],
  ["webfetch", "Fetch a web page and give its text as Markdown. For pages whose address is known."],
  [
    "todowrite",
    "Add items to this conversation's to-do list, or change them: for work of several steps, so that none is forgotten.",
  ],
  [
    "question",
    "Ask the user a question and wait for the answer: 7 days at most, so ask only what you cannot find out yourself.",
  ],
  [
    "task",
    "Give a task of several steps to a sub-agent on this device, which has a history of its own and tools, but knows nothing of this conversation.",
  ],
  [
    "update_self",
    "Update this agent's own program to the version that its gateway has. The agent is started anew, which takes a minute or two.",
  ],
];

const ACTIONS = {
  light: [
    ["on", "Switch the light on."],
    ["off", "Switch the light off."],
    ["state", "Is it on or off."],
  ],
  dimmer: [
    ["turn_on", "Turn the light on"],
    ["turn_off", "Turn the light off"],
    ["set_brightness", "Brightness in percent, 0 to 100"],
    ["get_state", "On or off, and brightness"],
  ],
  color: [
    ["set_power", "On or off"],
    ["set_brightness", "0 to 255"],
    ["set_color", "Colour as hex RGB"],
    ["set_color_temp", "Warm to cold white in kelvin"],
    ["effect", "Play a light effect"],
  ],
  plug: [
    ["switch", "Switch the socket on or off"],
    ["status", "State of the relay"],
  ],
  meter_plug: [
    ["switch", "Switch the socket on or off"],
    ["power", "Power drawn now in watts"],
    ["energy", "Energy used today and in total, kWh"],
  ],
  climate: [
    ["read", "Temperature in °C and relative humidity in percent"],
    ["battery", "Battery level in percent"],
  ],
  temperature: [["read_temperature", "Temperature in degrees Celsius"]],
  co2: [
    ["read", "CO2 in ppm, temperature, humidity"],
    ["calibrate", "Calibrate with fresh air"],
  ],
  air: [
    ["read", "Particles PM2.5, VOC index and CO2"],
    ["led", "Set the status light"],
  ],
  motion: [
    ["state", "Whether motion was seen, and when last"],
    ["set_sensitivity", "Low, medium, high"],
  ],
  contact: [
    ["state", "Open or closed, and since when"],
    ["battery", "Battery in percent"],
  ],
  leak: [
    ["state", "Wet or dry"],
    ["battery", "Battery in percent"],
  ],
  smoke: [
    ["state", "Alarm or clear"],
    ["self_test", "Test the siren"],
    ["silence", "Silence the alarm"],
  ],
  thermostat: [
    ["get", "Actual and target temperature, valve position"],
    ["set_target", "Set the target temperature in °C"],
    ["set_mode", "auto, manual, off"],
  ],
  blind: [
    ["up", "Open fully"],
    ["down", "Close fully"],
    ["set_position", "Position in percent"],
    ["stop", "Stop moving"],
  ],
  camera: [
    ["snapshot", "Take a picture"],
    ["clip", "Record a short video clip"],
    ["motion", "Last motion events"],
    ["ptz", "Pan, tilt, zoom"],
  ],
  doorbell: [
    ["snapshot", "Picture of who is at the door"],
    ["last_ring", "When it rang last"],
    ["say", "Speak a text over the speaker"],
  ],
  lock: [
    ["lock", "Lock the door"],
    ["unlock", "Unlock the door"],
    ["state", "Locked, unlocked, jammed; battery"],
  ],
  player: [
    ["play", "Play or resume"],
    ["pause", "Pause"],
    ["set_volume", "Volume 0 to 100"],
    ["now_playing", "Title and artist"],
    ["play_uri", "Play a stream or playlist"],
  ],
  tv: [
    ["power", "On or standby"],
    ["input", "Choose HDMI input or app"],
    ["volume", "Volume up, down, mute"],
    ["state", "What is on"],
  ],
  vacuum: [
    ["start", "Start cleaning"],
    ["clean_room", "Clean one room"],
    ["return_to_dock", "Go back to the dock"],
    ["status", "State, battery, dust bin"],
  ],
  mower: [
    ["start", "Start mowing"],
    ["park", "Go to the charging station"],
    ["status", "State, battery, errors"],
  ],
  valve: [
    ["open", "Open the valve for some minutes"],
    ["close", "Close the valve"],
    ["state", "Open or closed, litres today"],
  ],
  pump: [
    ["start", "Start the pump"],
    ["stop", "Stop the pump"],
    ["state", "Running or not, pressure in bar"],
  ],
  printer: [
    ["status", "Ready, error, paper and toner levels"],
    ["queue", "Print jobs that wait"],
    ["print", "Print a document by URL"],
  ],
  printer3d: [
    ["status", "Progress, nozzle and bed temperature, time left"],
    ["pause", "Pause the job"],
    ["cancel", "Cancel the job"],
    ["snapshot", "Picture of the print bed"],
  ],
  server: [
    ["uptime", "Uptime and load"],
    ["restart_service", "Restart a service by name"],
    ["disk_usage", "Used space of each volume"],
    ["logs", "Last lines of a log"],
  ],
  nas: [
    ["volumes", "Capacity, used and free space of each volume"],
    ["disk_health", "SMART state of each drive"],
    ["shares", "List shared folders"],
    ["scrub", "Start a scrub"],
  ],
  ups: [
    ["status", "On mains or battery, charge, runtime left"],
    ["load", "Load in percent and watts"],
    ["self_test", "Battery test"],
  ],
  router: [
    ["clients", "List connected clients"],
    ["wan_status", "Internet connection, public IP, speed"],
    ["reboot", "Reboot it"],
    ["block_client", "Block a client by MAC"],
  ],
  access_point: [
    ["clients", "Connected Wi-Fi clients"],
    ["channel", "Channel and utilisation"],
    ["reboot", "Reboot"],
  ],
  inverter: [
    ["power", "PV power now in watts"],
    ["energy_today", "Yield today in kWh"],
    ["errors", "Error codes"],
  ],
  battery: [
    ["soc", "State of charge in percent"],
    ["power", "Charging or discharging power"],
    ["set_mode", "self-use, backup, force charge"],
  ],
  wallbox: [
    ["status", "Car plugged in, charging, energy of session"],
    ["start_charging", "Start"],
    ["stop_charging", "Stop"],
    ["set_current", "Charge current in ampere"],
  ],
  meter: [
    ["read", "Counter reading and present power"],
    ["history", "Consumption by day"],
  ],
  appliance: [
    ["status", "Program, phase, remaining time"],
    ["start", "Start the selected program"],
    ["stop", "Stop"],
  ],
  fridge: [
    ["status", "Temperatures of the compartments, door"],
    ["set_temperature", "Set the target temperature"],
  ],
  coffee: [
    ["brew", "Brew a drink"],
    ["status", "Water, beans, descaling"],
    ["power", "On or off"],
  ],
  feeder: [
    ["feed", "Dispense portions"],
    ["level", "Food left"],
    ["history", "When it fed"],
  ],
  flap: [
    ["state", "Who went in or out last"],
    ["lock", "Lock it"],
    ["unlock", "Unlock it"],
  ],
  aquarium: [
    ["read", "Water temperature and pH"],
    ["light", "Light schedule"],
    ["feed", "Feed once"],
  ],
  gate: [
    ["open", "Open"],
    ["close", "Close"],
    ["state", "Open, closed, moving"],
  ],
  alarm: [
    ["arm", "Arm home, away or night"],
    ["disarm", "Disarm with a code"],
    ["status", "Armed state and open zones"],
  ],
  siren: [
    ["trigger", "Sound the siren"],
    ["stop", "Stop the siren"],
  ],
  gas: [
    ["read", "Concentration in ppm"],
    ["alarm_state", "Alarm or clear"],
    ["self_test", "Test it"],
  ],
  tank: [["level", "Fill level in percent and litres"]],
  weather: [
    ["current", "Temperature, wind, rain, pressure, light"],
    ["rain_today", "Rain since midnight in mm"],
  ],
  soil: [
    ["read", "Soil moisture in percent, soil temperature"],
    ["battery", "Battery voltage"],
  ],
  machine: [
    ["status", "Running, idle, fault; program"],
    ["counter", "Parts made this shift"],
    ["alarms", "Active alarm codes"],
    ["stop", "Stop at the end of the cycle"],
  ],
  vibration: [
    ["rms", "Vibration velocity RMS in mm/s"],
    ["spectrum", "FFT of the last second"],
    ["temperature", "Bearing temperature"],
  ],
  conveyor: [
    ["start", "Start"],
    ["stop", "Stop"],
    ["speed", "Set speed in m/s"],
    ["status", "Running, jam, speed"],
  ],
  andon: [
    ["set", "Set green, yellow, red"],
    ["state", "Colour shown"],
  ],
  compressor: [
    ["status", "Pressure in bar, load, oil temperature"],
    ["start", "Start"],
    ["stop", "Stop"],
  ],
  freezer: [
    ["temperature", "Actual and target temperature"],
    ["door", "Door open or closed"],
    ["alarm", "Temperature alarm state"],
  ],
  incubator: [
    ["status", "Temperature, humidity, CO2"],
    ["set_temperature", "Set target temperature"],
  ],
  instrument: [
    ["status", "Ready, busy, error"],
    ["start_run", "Start a run"],
    ["last_result", "Result of the last run"],
  ],
  hood: [
    ["airflow", "Face velocity in m/s"],
    ["sash", "Sash position"],
    ["boost", "Full extraction"],
  ],
  hive: [
    ["weight", "Weight in kg and change today"],
    ["climate", "Temperature and humidity inside"],
    ["sound", "Sound level"],
  ],
  scale: [
    ["weight", "Weight in kg"],
    ["tare", "Set to zero"],
  ],
  fan: [
    ["set_level", "Level 0 to 4"],
    ["boost", "Boost for 15 minutes"],
    ["state", "Level and filter"],
  ],
  heat_pump: [
    ["status", "Flow and return temperature, power, mode"],
    ["set_mode", "heating, hot water, holiday, off"],
    ["hot_water_boost", "Heat the water now"],
  ],
  boiler: [
    ["status", "Water temperature, burner state, faults"],
    ["set_target", "Set the target temperature"],
  ],
  pool: [
    ["read", "Water temperature, pH, chlorine"],
    ["pump", "Filter pump on or off"],
  ],
  reader: [
    ["last_access", "Last badges and whether they were let in"],
    ["grant", "Open once"],
    ["lockdown", "Refuse all badges"],
  ],
  occupancy: [["state", "Occupied or free, and since when"]],
  tracker: [
    ["position", "Where it is now"],
    ["battery", "Battery in percent"],
  ],
  display: [
    ["show", "Show a text or image"],
    ["clear", "Clear it"],
    ["brightness", "Brightness in percent"],
  ],
  esp: [
    ["read", "Read all inputs"],
    ["write", "Set an output"],
    ["info", "Firmware, uptime, RSSI"],
  ],
  hub: [
    ["devices", "List paired devices"],
    ["scene", "Run a scene by name"],
    ["permit_join", "Let new devices join"],
  ],
  remote: [
    ["send", "Send an infrared code"],
    ["learn", "Learn a code"],
  ],
  calendar: [
    ["today", "Appointments of today"],
    ["add", "Add an appointment"],
  ],
  backup: [
    ["status", "Last run, result, size"],
    ["run", "Run the backup now"],
    ["disk", "Space used and free on the target"],
  ],
  foreign: [],
  pi: PI_TOOLS,
} as const satisfies Record<string, ReadonlyArray<readonly [string, string]>>;

export type Make = keyof typeof ACTIONS;

export function actionsOf(make: Make): FixtureAction[] {
  return ACTIONS[make].map(([name, description]) => ({ name, description }));
}
