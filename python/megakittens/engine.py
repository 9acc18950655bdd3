"""What every engine can do beside `run(tensors)`; those without memory of their own have nothing to do."""


class Engine:
    """Runs a graph's inputs: `run(tensors) -> results`, one result an output of the graph; writes mutated inputs in
    place. `program`, where there is one, is what was scheduled."""

    program = None
    workspace_bytes = 0

    def fast_call(self, arguments, sources, results, mismatch, grad_mode):
        """A function of a call's tensors (`arguments` of them) to a tuple of results, which raises `mismatch` where they are not as
        captured; or None. `sources` are the graph's inputs: places among those tensors, or constants; `results` are numbers
        of the graph's outputs; in `grad_mode` no tensor may require a gradient."""
        return None

    def synchronize(self):
        pass

    def close(self):
        pass

    def explain(self):
        """The schedule as text: counts, then the nodes."""
        if self.program is None:
            return "evaluated plainly, without a schedule"
        counts = ", ".join(f"{name} {value}" for name, value in self.program.summary.items())
        lines = [f"  {node['count']:6} x {node['code']:24} {node['name']}  {node['source']}" for node in self.program.nodes]
        return "\n".join([f"program: {counts}", *lines])

    def save(self, path):
        if self.program is None:
            from megakittens.errors import UserError

            raise UserError("device='reference' schedules nothing, so there is no program to save")
        self.program.save(path)
