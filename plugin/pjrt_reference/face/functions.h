// The functions of the table: one for each slot. Those that take a NotDeclared have no body. The
// others stand in files by object. They throw a Refusal, which api.cc turns into a PJRT_Error; but
// Error_Destroy and Error_Message throw nothing.
#pragma once

#include "tenon/pjrt/abi.h"

namespace pjref::functions {

#define PJREF_DECLARE(Name, member, Args) void Name(tenon::pjrt::abi::Args* args);
TENON_PJRT_SLOTS(PJREF_DECLARE, PJREF_DECLARE)
#undef PJREF_DECLARE

// Their names without PJRT_, by slot.
inline constexpr const char* kNames[] = {
#define PJREF_NAME(Name, member, Args) #Name,
    TENON_PJRT_SLOTS(PJREF_NAME, PJREF_NAME)
#undef PJREF_NAME
};

}  // namespace pjref::functions
