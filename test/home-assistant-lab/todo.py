from homeassistant.components.todo import TodoItem, TodoItemStatus, TodoListEntity
from homeassistant.components.todo import TodoListEntityFeature as Feature

from . import Lab, single


class LabList(Lab, TodoListEntity):
    _attr_supported_features = (
        Feature.CREATE_TODO_ITEM | Feature.UPDATE_TODO_ITEM | Feature.DELETE_TODO_ITEM
    )

    async def async_added_to_hass(self):
        self._attr_todo_items = [
            TodoItem(uid="1", summary="Bread", status=TodoItemStatus.NEEDS_ACTION),
            TodoItem(uid="2", summary="Tea", status=TodoItemStatus.COMPLETED),
        ]

    async def async_create_todo_item(self, item):
        item.uid = str(len(self._attr_todo_items) + 1)
        item.status = TodoItemStatus.NEEDS_ACTION
        await self.act(self.setter("_attr_todo_items", [*self._attr_todo_items, item]))

    async def async_update_todo_item(self, item):
        items = [item if one.uid == item.uid else one for one in self._attr_todo_items]
        await self.act(self.setter("_attr_todo_items", items))

    async def async_delete_todo_items(self, uids):
        items = [one for one in self._attr_todo_items if one.uid not in uids]
        await self.act(self.setter("_attr_todo_items", items))


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("list", "Kitchen", LabList, ["works", "dead"]))
