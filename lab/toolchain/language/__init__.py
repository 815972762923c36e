"""The Python language host: what the Pulumi engine asks to run, install and describe Python programs."""
