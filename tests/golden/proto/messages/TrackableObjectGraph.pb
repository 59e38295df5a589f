

ÿÿÿÿûÿÿÿÿlocal_name_00*
name_00full_name_00checkpoint_key_00$ÿÿÿÿûÿÿÿÿslot_name_00ıÿÿÿûÿÿÿÿ"
name_00object_name_00*