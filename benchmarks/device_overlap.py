#!/usr/bin/env python3
"""Whether host and device work at the same time, on the example device with delays set.

    benchmarks/device_overlap.py BUILD_DIR

pairs:   100 kernels on the device, each read by a Tanh on the host: the time of a run over the larger
         of the host's work alone and the device's work alone.
streams: runs that each copy to the device, compute there and copy back, from several callers: the time
         of a run over the longest of the three.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

FLOATS = 262144  # 1 MiB
PAIRS = 100


def node(name, op, inputs, attrs='', device=''):
    text = ''.join(f" input: '{i}'" for i in inputs)
    return (f"node {{ name: '{name}' op: '{op}'{text} device: '{device}' "
            f"attr {{ key: 'T' value {{ type: DT_FLOAT }} }} {attrs} }}\n")


def placeholder():
    return (f"node {{ name: 'x' op: 'Placeholder' attr {{ key: 'dtype' value {{ type: DT_FLOAT }} }} "
            f"attr {{ key: 'shape' value {{ shape {{ dim {{ size: {FLOATS} }} }} }} }} }}\n")


def pairs(with_host, with_device):
    graph, results, last = placeholder(), [], 'x'
    for i in range(PAIRS):
        if with_device:
            graph += node(f'd{i}', 'Relu', [last], device='/device:APU:0')
            last = f'd{i}'
        if with_host:
            graph += node(f'h{i}', 'Tanh', [last], device='/device:CPU:0')
            results.append(f'h{i}')
    return graph, results or [last]


def bench(build, graph, fetches, plugin, callers=1):
    with tempfile.NamedTemporaryFile('w', suffix='.pbtxt') as file:
        file.write(graph)
        file.flush()
        command = [build / 'bin/graph_run', 'bench', file.name, '--input', f'x={FLOATS}xf32=random(seed=1)',
                   '--opt-level', '0', '--threads', '1', '--seconds', '3', '--concurrency', str(callers), '--json']
        for fetch in fetches:
            command += ['--output', fetch if fetch == 'y' else '^' + fetch]
        if plugin:
            command += ['--plugin', f"{build / 'lib/plugins/libapu.so'};{plugin}"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(result.stderr)
    return json.loads(result.stdout)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1])
    pace = 'compute_us=300;copy_gbps=5'
    least = {kind: bench(build, *pairs(*parts), pace if parts[1] else '')['min_us'] / 1000
             for kind, parts in (('host', (True, False)), ('device', (False, True)), ('both', (True, True)))}
    print(f"{PAIRS} pairs, ms a run: host {least['host']:.1f}, device {least['device']:.1f}, both {least['both']:.1f}: "
          f"{least['both'] / max(least['host'], least['device']):.2f} of the larger")
    stage_ms = FLOATS * 4 / 0.5e9 * 1000  # a copy; the kernel takes 2 ms
    graph = placeholder() + node('d', 'Relu', ['x'], device='/device:APU:0') + node('y', 'Identity', ['d'])
    for callers in (1, 2, 3, 4, 6):
        rate = bench(build, graph, ['y'], 'compute_us=2000;copy_gbps=0.5', callers)['runs_per_s']
        print(f'{callers} callers: {1000 / rate:.2f} ms a run, {1000 / rate / stage_ms:.2f} of the longest stage')


main()
