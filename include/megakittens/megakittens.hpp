// The whole C++ API: build or load a graph, schedule it, run the program.
#pragma once

#include <megakittens/builder.hpp>
#include <megakittens/error.hpp>
#include <megakittens/graph.hpp>
#include <megakittens/operations.hpp>
#include <megakittens/plugins.hpp>
#include <megakittens/program.hpp>
#include <megakittens/tensor.hpp>
#include <megakittens/version.hpp>
