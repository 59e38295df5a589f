// The functions of the table: one for each slot whose struct is declared. Each throws a Refusal,
// which api.cc turns into a PJRT_Error. The bodies stand in files by object.
#pragma once

#include "tenon/pjrt/abi.h"

namespace pjref::functions {

#define PJREF_DECLARE(Name, member, Args) void Name(tenon::pjrt::abi::Args* args);
TENON_PJRT_SLOTS(PJREF_DECLARE, PJREF_DECLARE)
#undef PJREF_DECLARE

}  // namespace pjref::functions
