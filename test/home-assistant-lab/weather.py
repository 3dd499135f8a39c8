from homeassistant.components.weather import WeatherEntity
from homeassistant.components.weather import WeatherEntityFeature as Feature

from . import Lab, single


class LabWeather(Lab, WeatherEntity):
    _attr_supported_features = Feature.FORECAST_DAILY
    _attr_condition = "rainy"
    _attr_native_temperature = 8
    _attr_native_temperature_unit = "°C"

    async def async_forecast_daily(self):
        days = [f"2026-12-{day:02}T12:00:00+00:00" for day in range(1, 15)]
        return [
            {"datetime": day, "condition": "sunny", "native_temperature": 9, "native_templow": 1}
            for day in days
        ]


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("weather", "Garden", LabWeather, ["works"]))
