import { Kernel, settled } from './kernel/kernel.ts'
import { Random } from './kernel/random.ts'

/** A kernel that lets things happen whenever there is something: for tests that call a face of the world directly. */
export function drivenKernel(name: string): { kernel: Kernel; stop: () => void } {
  const kernel = new Kernel(new Random(name))
  let isStopped = false
  const drive = async () => {
    while (!isStopped) {
      await settled()
      kernel.next()
    }
  }
  void drive()
  return {
    kernel,
    stop: () => {
      isStopped = true
    },
  }
}
