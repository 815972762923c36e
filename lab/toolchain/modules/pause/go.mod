module gpuplatform.local/toolchain/pause

go 1.26
