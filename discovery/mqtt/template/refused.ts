/** The names of Jinja's and Home Assistant's templates that are known and not offered, each with its reason. */

/** Kinds of names in a template. */
export type NameKind = "function" | "method" | "filter" | "test";

/** The end of a sentence: "…, which is not offered: it …". */
const REASONS: ReadonlyArray<readonly [reason: string, kinds: readonly (NameKind | "tag")[], names: string]> =
  [
    [
      "it needs the state of Home Assistant",
      ["function", "filter", "test"],
      `area_devices area_entities area_id area_name areas closest config_entry_attr config_entry_id device_attr device_entities
    device_id device_name distance entity_name expand floor_areas floor_entities floor_id floor_name floors has_value
    integration_entities is_device_attr is_hidden_entity is_state is_state_attr issue issues label_areas label_description
    label_devices label_entities label_id label_name labels state_attr state_attr_translated state_translated states`,
    ],
    ["it reads the answer of an action of Home Assistant", ["function"], "merge_response"],
    ["it gives another result each time", ["function", "filter"], "random shuffle lipsum"],
    ["bytes that are no text are not known", ["function", "filter"], "from_hex pack unpack"],
    ["bytes that are no text are not known", ["method"], "encode"],
    ["a message of a device needs no hash", ["function", "filter"], "md5 sha1 sha256 sha512"],
    ["it writes or reads HTML", ["filter"], "striptags urlize xmlattr"],
    ["it is for people who look for faults", ["filter"], "pprint"],
    ["it lays out a text for a page", ["filter"], "wordwrap"],
    ["functions are no values", ["function", "filter", "test"], "apply as_function"],
    ["it asks which names are known", ["test"], "filter test"],
    ["it keeps a state of its own", ["function"], "cycler joiner"],
    ["it keeps a state of its own", ["method"], "changed"],
    [
      "the order of a set is Python's own; unique, union and the like give a list",
      ["function", "test"],
      "set",
    ],
    ["versions are not compared", ["function", "filter"], "version"],
    [
      "it changes a value, which Home Assistant refuses too",
      ["method"],
      `append clear extend insert pop popitem remove reverse
    setdefault sort update`,
    ],
    ["it needs a table of letters", ["method"], "maketrans translate format_map"],
    [
      "it gives a part of a time that is no whole time",
      ["method"],
      "date time timetz timetuple utctimetuple dst tzname combine",
    ],
    [
      "it is not a method of a value but of Python's own class",
      ["method"],
      `fromisocalendar fromisoformat fromordinal fromtimestamp now strptime today utcfromtimestamp utcnow from_bytes
    from_number fromhex`,
    ],
    ["it shows how Python keeps a number", ["method"], "as_integer_ratio hex to_bytes"],
    ["a template of a device stands alone", ["tag"], "block extends from import include"],
    ["it is for pages", ["tag"], "autoescape print"],
    ["a macro is called by its name alone", ["tag"], "call"],
  ];

const REFUSED: ReadonlyMap<string, string> = new Map(
  REASONS.flatMap(([reason, kinds, names]) =>
    names.split(/\s+/).flatMap((name) => kinds.map((kind) => [`${kind} ${name}`, reason] as const)),
  ),
);

/** @returns undefined: it is not a name of the references */
function refusalOf(kind: NameKind | "tag", name: string): string | undefined {
  return REFUSED.get(`${kind} ${name}`);
}

/** The words about a name that does not work. */
export function unknownNameText(kind: NameKind | "tag", name: string): string {
  const reason = refusalOf(kind, name);
  const what = `has the ${kind} ${JSON.stringify(name)}`;
  return reason === undefined
    ? `${what}, which is not known here`
    : `${what}, which is not offered: ${reason}`;
}
