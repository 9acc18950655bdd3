// Errors of two kinds: a user's mistake, told in the user's words, and a defect of ours, told with condition and place.
#pragma once

#include <stdexcept>

namespace megakittens {

/// Base of every error this library throws. `what()` is a complete message.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something the caller can mend: a graph, tensor, option, or file that we cannot take. Each maps to a Python class.
class UserError : public Error {
 public:
  using Error::Error;
};
/// An operation, dtype, rank or form of an operation that no instruction type takes.
class UnsupportedError : public UserError {
 public:
  using UserError::UserError;
};
/// A graph or program file that is damaged, foreign, or of another version.
class FormatError : public UserError {
 public:
  using UserError::UserError;
};
/// A limit of the machine or of a format was reached; the message names it with its numbers.
class CapacityError : public UserError {
 public:
  using UserError::UserError;
};
/// An option or argument with a value that is not possible.
class OptionError : public UserError {
 public:
  using UserError::UserError;
};
/// A program that could not run to its end: a stuck wait, an ordering fault, memory out of bounds.
class ExecutionError : public Error {
 public:
  using Error::Error;
};
/// A broken promise inside this library. The message asks for a report.
class InternalError : public Error {
 public:
  using Error::Error;
};

/// Base of what is no error but the wish to stop, which a host half passes on: Python's KeyboardInterrupt, say. It goes
/// through this library as it is; anything else that a host half throws becomes a UserError.
class Interruption {
 public:
  virtual ~Interruption() = default;
};

}  // namespace megakittens
