// Branches and loops by values of tensors: Cond, Case, While, Scan and Map.
#pragma once

#include "tenon/branches.h"
#include "tenon/loops.h"
#include "tenon/scan.h"
