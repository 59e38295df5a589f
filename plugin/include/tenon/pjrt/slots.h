// The functions of a PJRT table in the order of their slots, from slot 0 at byte 40 on.
#pragma once

// Expands SLOT(Name, member, Args) for each function: the name without "PJRT_", the member of
// abi::Api, and the struct that the function takes; NotDeclared is a struct that abi.h leaves out.
// VOID_SLOT, of the same form, is for functions that return nothing.
// clang-format off
#define TENON_PJRT_SLOTS(SLOT, VOID_SLOT) \
  VOID_SLOT(Error_Destroy, error_destroy, ErrorDestroyArgs) \
  VOID_SLOT(Error_Message, error_message, ErrorMessageArgs) \
  SLOT(Error_GetCode, error_get_code, ErrorGetCodeArgs) \
  SLOT(Plugin_Initialize, plugin_initialize, PluginInitializeArgs) \
  SLOT(Plugin_Attributes, plugin_attributes, PluginAttributesArgs) \
  SLOT(Event_Destroy, event_destroy, EventArgs) \
  SLOT(Event_IsReady, event_is_ready, EventIsReadyArgs) \
  SLOT(Event_Error, event_error, EventArgs) \
  SLOT(Event_Await, event_await, EventArgs) \
  SLOT(Event_OnReady, event_on_ready, EventOnReadyArgs) \
  SLOT(Client_Create, client_create, ClientCreateArgs) \
  SLOT(Client_Destroy, client_destroy, ClientDestroyArgs) \
  SLOT(Client_PlatformName, client_platform_name, ClientTextArgs) \
  SLOT(Client_ProcessIndex, client_process_index, ClientProcessIndexArgs) \
  SLOT(Client_PlatformVersion, client_platform_version, ClientTextArgs) \
  SLOT(Client_Devices, client_devices, ClientDevicesArgs) \
  SLOT(Client_AddressableDevices, client_addressable_devices, ClientDevicesArgs) \
  SLOT(Client_LookupDevice, client_lookup_device, ClientLookupDeviceArgs) \
  SLOT(Client_LookupAddressableDevice, client_lookup_addressable_device, ClientLookupDeviceArgs) \
  SLOT(Client_AddressableMemories, client_addressable_memories, ClientMemoriesArgs) \
  SLOT(Client_Compile, client_compile, ClientCompileArgs) \
  SLOT(Client_DefaultDeviceAssignment, \
       client_default_device_assignment, ClientDefaultDeviceAssignmentArgs) \
  SLOT(Client_BufferFromHostBuffer, \
       client_buffer_from_host_buffer, ClientBufferFromHostBufferArgs) \
  SLOT(DeviceDescription_Id, device_description_id, DescriptionNumberArgs) \
  SLOT(DeviceDescription_ProcessIndex, device_description_process_index, DescriptionNumberArgs) \
  SLOT(DeviceDescription_Attributes, device_description_attributes, DescriptionAttributesArgs) \
  SLOT(DeviceDescription_Kind, device_description_kind, DescriptionTextArgs) \
  SLOT(DeviceDescription_DebugString, device_description_debug_string, DescriptionTextArgs) \
  SLOT(DeviceDescription_ToString, device_description_to_string, DescriptionTextArgs) \
  SLOT(Device_GetDescription, device_get_description, DeviceGetDescriptionArgs) \
  SLOT(Device_IsAddressable, device_is_addressable, DeviceIsAddressableArgs) \
  SLOT(Device_LocalHardwareId, device_local_hardware_id, DeviceLocalHardwareIdArgs) \
  SLOT(Device_AddressableMemories, device_addressable_memories, DeviceMemoriesArgs) \
  SLOT(Device_DefaultMemory, device_default_memory, DeviceDefaultMemoryArgs) \
  SLOT(Device_MemoryStats, device_memory_stats, DeviceMemoryStatsArgs) \
  SLOT(Memory_Id, memory_id, MemoryNumberArgs) \
  SLOT(Memory_Kind, memory_kind, MemoryTextArgs) \
  SLOT(Memory_DebugString, memory_debug_string, MemoryTextArgs) \
  SLOT(Memory_ToString, memory_to_string, MemoryTextArgs) \
  SLOT(Memory_AddressableByDevices, memory_addressable_by_devices, MemoryDevicesArgs) \
  SLOT(Executable_Destroy, executable_destroy, ExecutableDestroyArgs) \
  SLOT(Executable_Name, executable_name, ExecutableTextArgs) \
  SLOT(Executable_NumReplicas, executable_num_replicas, ExecutableCountArgs) \
  SLOT(Executable_NumPartitions, executable_num_partitions, ExecutableCountArgs) \
  SLOT(Executable_NumOutputs, executable_num_outputs, ExecutableCountArgs) \
  SLOT(Executable_SizeOfGeneratedCodeInBytes, \
       executable_size_of_generated_code_in_bytes, ExecutableCodeSizeArgs) \
  SLOT(Executable_GetCostAnalysis, executable_get_cost_analysis, ExecutableCostArgs) \
  SLOT(Executable_OutputMemoryKinds, \
       executable_output_memory_kinds, ExecutableOutputMemoryKindsArgs) \
  SLOT(Executable_OptimizedProgram, \
       executable_optimized_program, ExecutableOptimizedProgramArgs) \
  SLOT(Executable_Serialize, executable_serialize, ExecutableSerializeArgs) \
  SLOT(LoadedExecutable_Destroy, loaded_executable_destroy, LoadedArgs) \
  SLOT(LoadedExecutable_GetExecutable, \
       loaded_executable_get_executable, LoadedGetExecutableArgs) \
  SLOT(LoadedExecutable_AddressableDevices, \
       loaded_executable_addressable_devices, LoadedDevicesArgs) \
  SLOT(LoadedExecutable_Delete, loaded_executable_delete, LoadedArgs) \
  SLOT(LoadedExecutable_IsDeleted, loaded_executable_is_deleted, LoadedIsDeletedArgs) \
  SLOT(LoadedExecutable_Execute, loaded_executable_execute, ExecuteArgs) \
  SLOT(Executable_DeserializeAndLoad, executable_deserialize_and_load, DeserializeAndLoadArgs) \
  SLOT(LoadedExecutable_Fingerprint, loaded_executable_fingerprint, LoadedTextArgs) \
  SLOT(Buffer_Destroy, buffer_destroy, BufferArgs) \
  SLOT(Buffer_ElementType, buffer_element_type, BufferElementTypeArgs) \
  SLOT(Buffer_Dimensions, buffer_dimensions, BufferDimensionsArgs) \
  SLOT(Buffer_UnpaddedDimensions, buffer_unpadded_dimensions, BufferDimensionsArgs) \
  SLOT(Buffer_DynamicDimensionIndices, buffer_dynamic_dimension_indices, BufferDynamicAxesArgs) \
  SLOT(Buffer_GetMemoryLayout, buffer_get_memory_layout, BufferLayoutArgs) \
  SLOT(Buffer_OnDeviceSizeInBytes, buffer_on_device_size_in_bytes, BufferSizeArgs) \
  SLOT(Buffer_Device, buffer_device, BufferDeviceArgs) \
  SLOT(Buffer_Memory, buffer_memory, BufferMemoryArgs) \
  SLOT(Buffer_Delete, buffer_delete, BufferArgs) \
  SLOT(Buffer_IsDeleted, buffer_is_deleted, BufferFlagArgs) \
  SLOT(Buffer_CopyToDevice, buffer_copy_to_device, BufferCopyToDeviceArgs) \
  SLOT(Buffer_ToHostBuffer, buffer_to_host_buffer, BufferToHostArgs) \
  SLOT(Buffer_IsOnCpu, buffer_is_on_cpu, BufferFlagArgs) \
  SLOT(Buffer_ReadyEvent, buffer_ready_event, BufferReadyEventArgs) \
  SLOT(Buffer_UnsafePointer, buffer_unsafe_pointer, BufferUnsafePointerArgs) \
  SLOT(Buffer_IncreaseExternalReferenceCount, \
       buffer_increase_external_reference_count, BufferArgs) \
  SLOT(Buffer_DecreaseExternalReferenceCount, \
       buffer_decrease_external_reference_count, BufferArgs) \
  SLOT(Buffer_OpaqueDeviceMemoryDataPointer, \
       buffer_opaque_device_memory_data_pointer, BufferPointerArgs) \
  SLOT(CopyToDeviceStream_Destroy, copy_to_device_stream_destroy, NotDeclared) \
  SLOT(CopyToDeviceStream_AddChunk, copy_to_device_stream_add_chunk, NotDeclared) \
  SLOT(CopyToDeviceStream_TotalBytes, copy_to_device_stream_total_bytes, NotDeclared) \
  SLOT(CopyToDeviceStream_GranuleSize, copy_to_device_stream_granule_size, NotDeclared) \
  SLOT(CopyToDeviceStream_CurrentBytes, copy_to_device_stream_current_bytes, NotDeclared) \
  SLOT(TopologyDescription_Create, topology_description_create, NotDeclared) \
  SLOT(TopologyDescription_Destroy, topology_description_destroy, NotDeclared) \
  SLOT(TopologyDescription_PlatformName, topology_description_platform_name, NotDeclared) \
  SLOT(TopologyDescription_PlatformVersion, topology_description_platform_version, NotDeclared) \
  SLOT(TopologyDescription_GetDeviceDescriptions, \
       topology_description_get_device_descriptions, NotDeclared) \
  SLOT(TopologyDescription_Serialize, topology_description_serialize, NotDeclared) \
  SLOT(TopologyDescription_Attributes, topology_description_attributes, NotDeclared) \
  SLOT(Compile, compile, NotDeclared) \
  SLOT(Executable_OutputElementTypes, \
       executable_output_element_types, ExecutableOutputTypesArgs) \
  SLOT(Executable_OutputDimensions, \
       executable_output_dimensions, ExecutableOutputDimensionsArgs) \
  SLOT(Buffer_CopyToMemory, buffer_copy_to_memory, BufferCopyToMemoryArgs) \
  SLOT(Client_CreateViewOfDeviceBuffer, \
       client_create_view_of_device_buffer, ClientCreateViewArgs) \
  SLOT(Executable_Fingerprint, executable_fingerprint, ExecutableTextArgs) \
  SLOT(Client_TopologyDescription, client_topology_description, ClientTopologyArgs) \
  SLOT(Executable_GetCompiledMemoryStats, \
       executable_get_compiled_memory_stats, ExecutableMemoryStatsArgs) \
  SLOT(Memory_Kind_Id, memory_kind_id, MemoryNumberArgs) \
  SLOT(ExecuteContext_Create, execute_context_create, NotDeclared) \
  SLOT(ExecuteContext_Destroy, execute_context_destroy, NotDeclared) \
  SLOT(Buffer_CopyRawToHost, buffer_copy_raw_to_host, NotDeclared) \
  SLOT(AsyncHostToDeviceTransferManager_Destroy, \
       async_host_to_device_transfer_manager_destroy, NotDeclared) \
  SLOT(AsyncHostToDeviceTransferManager_TransferData, \
       async_host_to_device_transfer_manager_transfer_data, NotDeclared) \
  SLOT(Client_CreateBuffersForAsyncHostToDevice, \
       client_create_buffers_for_async_host_to_device, NotDeclared) \
  SLOT(AsyncHostToDeviceTransferManager_RetrieveBuffer, \
       async_host_to_device_transfer_manager_retrieve_buffer, NotDeclared) \
  SLOT(AsyncHostToDeviceTransferManager_Device, \
       async_host_to_device_transfer_manager_device, NotDeclared) \
  SLOT(AsyncHostToDeviceTransferManager_BufferCount, \
       async_host_to_device_transfer_manager_buffer_count, NotDeclared) \
  SLOT(AsyncHostToDeviceTransferManager_BufferSize, \
       async_host_to_device_transfer_manager_buffer_size, NotDeclared) \
  SLOT(AsyncHostToDeviceTransferManager_SetBufferError, \
       async_host_to_device_transfer_manager_set_buffer_error, NotDeclared) \
  SLOT(AsyncHostToDeviceTransferManager_AddMetadata, \
       async_host_to_device_transfer_manager_add_metadata, NotDeclared) \
  SLOT(Client_DmaMap, client_dma_map, ClientDmaMapArgs) \
  SLOT(Client_DmaUnmap, client_dma_unmap, ClientDmaUnmapArgs) \
  SLOT(Client_CreateUninitializedBuffer, \
       client_create_uninitialized_buffer, ClientCreateUninitializedArgs) \
  SLOT(Client_UpdateGlobalProcessInfo, client_update_global_process_info, NotDeclared) \
  SLOT(TopologyDescription_Deserialize, topology_description_deserialize, NotDeclared) \
  SLOT(Client_CreateAliasBuffer, client_create_alias_buffer, NotDeclared) \
  SLOT(Client_FulfillAliasBuffer, client_fulfill_alias_buffer, NotDeclared) \
  SLOT(LoadedExecutable_GetDeviceAssignment, \
       loaded_executable_get_device_assignment, NotDeclared) \
  SLOT(Client_CreateErrorBuffer, client_create_error_buffer, NotDeclared) \
  SLOT(AsyncHostToDeviceTransferManager_TransferLiteral, \
       async_host_to_device_transfer_manager_transfer_literal, NotDeclared) \
  SLOT(Buffer_CopyRawToHostFuture, buffer_copy_raw_to_host_future, NotDeclared) \
  SLOT(Device_PoisonExecution, device_poison_execution, NotDeclared) \
  SLOT(Device_CreateAsyncTrackingEvent, device_create_async_tracking_event, NotDeclared) \
  SLOT(AsyncTrackingEvent_Destroy, async_tracking_event_destroy, NotDeclared) \
  SLOT(Executable_GetCompileOptions, executable_get_compile_options, NotDeclared) \
  SLOT(Buffer_DonateWithControlDependency, buffer_donate_with_control_dependency, NotDeclared) \
  SLOT(Event_Create, event_create, NotDeclared) \
  SLOT(Event_Set, event_set, NotDeclared) \
  SLOT(Device_GetAttributes, device_get_attributes, NotDeclared) \
  SLOT(Client_Load, client_load, NotDeclared) \
  SLOT(LoadedExecutable_AddressableDeviceLogicalIds, \
       loaded_executable_addressable_device_logical_ids, NotDeclared) \
  SLOT(Buffer_Bitcast, buffer_bitcast, NotDeclared) \
  SLOT(Error_ForEachPayload, error_for_each_payload, NotDeclared) \
  SLOT(TopologyDescription_Fingerprint, topology_description_fingerprint, NotDeclared) \
  SLOT(Executable_ParameterMemoryKinds, executable_parameter_memory_kinds, NotDeclared) \
  SLOT(Device_ClearMemoryStats, device_clear_memory_stats, NotDeclared)
// clang-format on
