/** A systemd unit's name, its suffix left out or not. It never begins like an option. */
export const UNIT_NAME = /^[A-Za-z0-9_:@\\][A-Za-z0-9_:.@\\-]{0,254}$/;
